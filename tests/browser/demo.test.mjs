// What a person sees of the demo: the app renders, updates, works by keyboard, and cannot reach what it did not declare.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startDemo } from '../clients/demo.mjs';
import { startChromium } from './chromium.mjs';

const WIDE = { width: 1280, height: 960 }, NARROW = { width: 360, height: 2200 };

let demo, browser, page, elsewhere;
const hits = []; // what reached the origin that nobody declared
const troubles = []; // errors of the page, and requests to anywhere else

before(async () => {
  demo = await startDemo();
  elsewhere = createServer((request, response) => {
    hits.push(request.url);
    response.writeHead(200, { 'access-control-allow-origin': '*' }).end('{}');
  });
  await new Promise(resolve => elsewhere.listen(0, '127.0.0.1', resolve));
  browser = await startChromium(WIDE);
  page = await browser.context.newPage();
  page.on('pageerror', error => troubles.push(error.message));
  page.on('console', message => message.type() === 'error' && troubles.push(message.text()));
  await page.goto(`${demo.address}/`);
});

after(async () => {
  await browser?.stop();
  elsewhere?.close();
  await demo?.stop();
});

/** The app's own frame, within that of the other origin. */
async function dashboard() {
  const inner = await page.frameLocator('#stage iframe').locator('iframe').elementHandle();
  const frame = await inner.contentFrame();
  await frame.locator('#status', { hasText: 'As of' }).waitFor();
  return frame;
}
const button = name => page.getByRole('button', { name });
const records = () => page.locator('#log tr').allInnerTexts();
const recorded = async (...parts) => {
  const row = parts.reduce((rows, hasText) => rows.filter({ hasText }), page.locator('#log tr'));
  await row.first().waitFor();
  return row.first().evaluate(element => JSON.parse(element.title));
};
const cents = text => Math.round(Number(text.replace(/[^\d.]/g, '')) * 100);

test('the page lists what a model and what an app see', async () => {
  const row = page.locator('#tools tr', { hasText: 'account_overview' });
  await row.waitFor();
  assert.equal(await page.locator('#tools tr').count(), 4);
  assert.deepEqual(await row.getByRole('button').allInnerTexts(), ['Hidden: try', 'Call']);
  assert.match(await page.locator('#extensions').innerText(), /none without .* io\.modelcontextprotocol\/ui with it/);
});

test('a call of a linked tool shows the app, with a chart of what the tool gave', async () => {
  await button('Call usage_by_day as model').click();
  const frame = await dashboard();
  assert.equal(await frame.locator('.bar').count(), 14);
  const heights = await frame.locator('.bar .value').evaluateAll(bars => bars.map(bar => bar.getBoundingClientRect().height));
  assert.ok(heights.every(height => height > 5) && new Set(heights).size > 5, `bars of ${heights}`);
  const frameHeight = await page.locator('#stage iframe').evaluate(iframe => iframe.clientHeight);
  const contentHeight = await frame.evaluate(() => document.documentElement.scrollHeight);
  assert.ok(Math.abs(frameHeight - contentHeight) < 4, `${frameHeight} for ${contentHeight}`);
  const call = await recorded('model', 'usage_by_day');
  assert.deepEqual([call.audience, call.known_by, call.decision], ['model', 'setting', 'forwarded']);
  const read = await recorded('resources/read', 'ui://account/dashboard');
  assert.equal(read.audience, 'host');
});

test('a click in the app calls the app-only tool, and is recorded as made by an app', async () => {
  const frame = await dashboard();
  const before = { balance: await frame.locator('#balance').innerText(), records: (await records()).length };
  await frame.getByRole('button', { name: 'Refresh' }).click();
  await frame.locator('#balance', { hasNotText: before.balance }).waitFor();
  assert.equal(cents(before.balance) - cents(await frame.locator('#balance').innerText()), 5);
  assert.match(await frame.locator('#change').innerText(), /0\.05 since the last look/);
  await page.waitForFunction(count => document.querySelectorAll('#log tr').length > count, before.records);
  const call = await recorded('account_overview');
  assert.deepEqual([call.audience, call.visibility, call.decision, call.status], ['app', 'app', 'forwarded', 200]);
});

test('the model gets no further than a refusal with the app-only tool', async () => {
  await button('Call account_overview as model').click();
  await page.locator('#answer', { hasText: '-32602' }).waitFor();
  const call = await recorded('refused', 'account_overview');
  assert.deepEqual([call.audience, call.reason], ['model', 'hidden']);
});

test('a fetch to an undeclared origin is blocked by the policy', async () => {
  const frame = await dashboard();
  const there = `http://127.0.0.1:${elsewhere.address().port}`;
  // The origin can be reached, as the page itself shows.
  assert.equal(await page.evaluate(url => fetch(url).then(response => response.status), `${there}/page`), 200);
  const result = await frame.evaluate(async urls => {
    const violations = [];
    document.addEventListener('securitypolicyviolation', event => violations.push(event.effectiveDirective));
    const outcomes = [];
    for (const url of urls) outcomes.push(await fetch(url).then(() => 'reached', error => error.name));
    const image = new Image();
    const loaded = new Promise(resolve => { image.onload = () => resolve('reached'); image.onerror = () => resolve('blocked'); });
    image.src = `${urls[0]}/image`;
    outcomes.push(await loaded);
    await new Promise(resolve => setTimeout(resolve, 50)); // the events come behind
    return { outcomes, violations, origin: self.origin };
  }, [`${there}/app`, `${demo.address}/mcp`]);
  assert.deepEqual(result.outcomes, ['TypeError', 'TypeError', 'blocked']);
  assert.deepEqual(result.violations.sort(), ['connect-src', 'connect-src', 'img-src']);
  assert.equal(result.origin, 'null');
  assert.deepEqual(hits.filter(url => url !== '/page'), []);
  assert.match(await page.locator('#policy').innerText(), /default-src 'none'.*connect-src 'none'/);
  troubles.splice(0, troubles.length, ...troubles.filter(text => !/Content Security Policy/.test(text)));
});

test('the app works by keyboard', async () => {
  const frame = await dashboard();
  const today = await frame.locator('#day').innerText();
  await frame.locator('.bar[tabindex="0"]').focus();
  await page.keyboard.press('ArrowLeft');
  assert.notEqual(await frame.locator('#day').innerText(), today);
  await page.keyboard.press('End');
  assert.equal(await frame.locator('#day').innerText(), today);
  await page.keyboard.press('Shift+Tab');
  assert.equal(await frame.evaluate(() => document.activeElement.id), 'refresh');
  const before = await frame.locator('#balance').innerText();
  await page.keyboard.press('Enter');
  await frame.locator('#balance', { hasNotText: before }).waitFor();
  assert.equal(await frame.evaluate(() => document.activeElement.id), 'refresh', 'the focus stays');
});

for (const [scheme, viewport] of [['light', WIDE], ['dark', WIDE], ['light', NARROW], ['dark', NARROW]]) {
  test(`nothing is cut off and the colours follow: ${scheme}, ${viewport.width} wide`, async () => {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme: scheme });
    const frame = await dashboard();
    const dark = color => color.match(/\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) < 382;
    const background = () => frame.evaluate(() => getComputedStyle(document.body).backgroundColor);
    for (let tries = 0; dark(await background()) !== (scheme === 'dark') && tries < 20; tries++) await page.waitForTimeout(50);
    assert.equal(dark(await background()), scheme === 'dark');
    assert.equal(dark(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)), scheme === 'dark');
    await page.waitForTimeout(400); // bars move
    const heights = [
      await page.locator('#stage iframe').evaluate(iframe => iframe.clientHeight),
      await frame.evaluate(() => document.body.getBoundingClientRect().height),
    ];
    assert.ok(Math.abs(heights[0] - heights[1]) < 3, `a frame of ${heights[0]} px for ${heights[1]} px`);
    for (const inside of [page, frame]) {
      const over = await inside.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(over <= 0, `${over} px too wide`);
    }
    if (process.env.SCREENSHOTS) {
      const path = join(process.env.SCREENSHOTS, `${scheme}-${viewport.width}.png`);
      await page.screenshot({ path });
    }
  });
}

test('nothing went wrong in the page', () => assert.deepEqual(troubles, []));
