// The reference host's bridge in Chromium: a server that the layers gave an app, published servers with their own behind
// the proxy, and one that declares where its app may connect.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { startDemo, startProxy } from '../clients/demo.mjs';
import { startUpstream } from '../clients/upstream.mjs';
import { startChromium } from './chromium.mjs';
import { startHosting } from './hosting.mjs';
import { startPublished } from '../kit/published.mjs';

const PUBLISHED = ['system-monitor', 'budget-allocator', 'basic-vanillajs'];
const FULL = ['--flat-key', 'both', '--openai-keys', '--allow-connect', 'https://api.example.com', '--audit', '/dev/null'];
const HTML = '<!doctype html><html lang="en"><title>Declared</title><script>' +
  "parent.postMessage({ jsonrpc: '2.0', id: 1, method: 'ui/initialize', params: { protocolVersion: '2026-01-26', " +
  "appInfo: { name: 'declared', version: '1' }, appCapabilities: {} } }, '*'); addEventListener('message', ({ data }) => " +
  "data.id === 1 && parent.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/initialized', params: {} }, '*'));" +
  '</script><body>Declared</body></html>';

const stops = [];
const keep = started => { stops.push(started.stop); return started; };
let hosting, page, allowed, refused;
const hits = [];

before(async () => {
  const endpoints = { '/account': `${keep(await startDemo()).address}/mcp` };
  for (const name of PUBLISHED) {
    const server = keep(await startPublished(`server-${name}`));
    endpoints[`/${name}`] = keep(await startProxy(server.url, ...FULL)).address;
  }
  [allowed, refused] = [await elsewhere('allowed'), await elsewhere('refused')];
  const declared = { csp: { connectDomains: [allowed, refused] } };
  const upstream = keep(await startUpstream(declared, HTML));
  endpoints['/declared'] = keep(await startProxy(upstream.url)).address;
  endpoints['/restricted'] = keep(await startProxy(upstream.url, '--allow-connect', allowed)).address;
  hosting = keep(await startHosting(endpoints));
  const browser = keep(await startChromium({ width: 1000, height: 800 }));
  page = await browser.context.newPage();
  await page.goto(hosting.page);
  await page.waitForFunction(() => globalThis.host);
});
after(async () => { for (const stop of stops.reverse()) await stop(); });

/** An origin that answers everybody, and notes who came. */
async function elsewhere(name) {
  const server = createServer((request, response) => {
    hits.push(name);
    response.writeHead(200, { 'access-control-allow-origin': '*' }).end('{}');
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => { server.close(); server.closeAllConnections(); });
  return `http://127.0.0.1:${server.address().port}`;
}

const show = (path, era, tool) =>
  page.evaluate(([path, era, tool, sandbox]) => host.show(path, era, tool, sandbox), [path, era, tool, hosting.sandbox]);
const asModel = (path, era, tool) => page.evaluate(([path, era, tool]) => host.asModel(path, era, tool), [path, era, tool]);
/** The app's own frame, within that of the sandbox. */
async function view() {
  const inner = await page.frameLocator('iframe').locator('iframe').elementHandle();
  return inner.contentFrame();
}
const text = (frame, selector, hasText) => frame.locator(selector, { hasText }).first().innerText();

for (const era of ['modern', 'legacy']) {
  test(`${era}: the app that the layer gives is rendered, and calls its tool`, async () => {
    await show('/account', era, 'usage_by_day');
    const frame = await view();
    await frame.locator('.bar').nth(13).waitFor();
    const before = await text(frame, '#balance', /\d/);
    await frame.getByRole('button', { name: 'Refresh' }).click();
    await frame.locator('#balance', { hasNotText: before }).waitFor();
  });

  test(`${era}: the tool for the app alone is out of the model's reach`, async () => {
    const { tools, call } = await asModel('/account', era, 'account_overview');
    assert.ok(tools.includes('usage_by_day') && !tools.includes('account_overview'), tools.join());
    assert.equal(call, -32602);
  });
}

test('a published server: its app is rendered, and polls with a tool for it alone', async () => {
  const { tools } = await show('/system-monitor', 'legacy', 'get-system-info');
  assert.ok(tools.includes('poll-system-stats'));
  const frame = await view();
  await text(frame, '#info-platform', /\w/);
  await frame.locator('#poll-toggle-btn').click();
  assert.match(await text(frame, '#memory-percent', /\d/), /^\d+%$/);
});

test('a published server: the model neither sees nor calls the tool for the app', async () => {
  const { tools, call } = await asModel('/system-monitor', 'legacy', 'poll-system-stats');
  assert.deepEqual([tools, call], [['get-system-info'], -32602]);
});

test('a published server: its chart is drawn from what the tool gave', async () => {
  await show('/budget-allocator', 'legacy', 'get-budget-data');
  const frame = await view();
  await text(frame, '#status-bar', /Allocated: \$[1-9]/);
  assert.equal(await frame.locator('#sliders-container input[type=range]').count(), 5);
  const isDrawn = await frame.locator('#budget-chart').evaluate(canvas => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return data.some(value => value > 0);
  });
  assert.ok(isDrawn);
});

test('a published server: a click in its app calls a tool', async () => {
  await show('/basic-vanillajs', 'legacy', 'get-time');
  const frame = await view();
  const first = await text(frame, '#server-time', /\d{4}-/);
  await frame.getByRole('button', { name: 'Get Server Time' }).click();
  await frame.locator('#server-time', { hasNotText: first }).waitFor();
});

for (const [path, kept] of [['/declared', 2], ['/restricted', 1]]) {
  test(`the app at ${path} reaches ${kept} of the two origins that its server declares`, async () => {
    hits.length = 0;
    const { declared } = await show(path, 'legacy', 'show_map');
    const connectDomains = [allowed, refused].slice(0, kept);
    assert.deepEqual(declared.csp, { connectDomains });
    const frame = await view();
    const outcomes = await frame.evaluate(urls => Promise.all(
      urls.map(url => fetch(url).then(() => 'reached', error => error.name)),
    ), [allowed, refused, hosting.page]);
    assert.deepEqual(outcomes, ['reached', kept === 2 ? 'reached' : 'TypeError', 'TypeError']);
    assert.deepEqual(hits.sort(), ['allowed', 'refused'].slice(0, kept));
  });
}
