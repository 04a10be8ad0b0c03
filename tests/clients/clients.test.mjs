// Servers behind the layers through the official clients: what they negotiate, list, read and call, in both eras.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { startDemo, startProxy } from './demo.mjs';
import { appsByTool } from './inspector.mjs';
import { DECLARED, URI, startUpstream } from './upstream.mjs';

const UI = 'io.modelcontextprotocol/ui', APP_HTML = 'text/html;profile=mcp-app', PAGE = 'ui://account/dashboard';
const CLOSED = { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] };
const ERAS = { modern: { mode: { pin: '2026-07-28' } }, legacy: { mode: 'legacy' } };
const TOOLS = ['account_overview', 'get_balance', 'settlement_history', 'usage_by_day'];

let demo;
before(async () => { demo = await startDemo(); });
after(() => demo?.stop());

async function connect(era, hasApps) {
  const capabilities = hasApps ? { extensions: { [UI]: { mimeTypes: [APP_HTML] } } } : {};
  const client = new Client({ name: 'clients-test', version: '1.0.0' }, { capabilities, versionNegotiation: ERAS[era] });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${demo.address}/mcp`)));
  assert.equal(client.getProtocolEra(), era);
  return client;
}
const byName = tools => Object.fromEntries(tools.map(tool => [tool.name, tool._meta?.ui]));

for (const era of Object.keys(ERAS)) {
  test(`the TypeScript client, ${era}, with MCP Apps`, async () => {
    const client = await connect(era, true);
    assert.deepEqual(client.getServerCapabilities().extensions[UI], { mimeTypes: [APP_HTML] });

    const { tools } = await client.listTools();
    assert.deepEqual(tools.map(tool => tool.name).sort(), TOOLS);
    const ui = byName(tools);
    assert.deepEqual([ui.usage_by_day, ui.account_overview], [{ resourceUri: PAGE }, { visibility: ['app'] }]);

    const { resources } = await client.listResources();
    assert.deepEqual(resources.map(({ uri, mimeType }) => [uri, mimeType]), [[PAGE, APP_HTML]]);
    const { contents: [page] } = await client.readResource({ uri: PAGE });
    assert.deepEqual([page.uri, page.mimeType, page._meta], [PAGE, APP_HTML, { ui: { csp: CLOSED } }]);
    assert.match(page.text, /^<!doctype html>/);

    const usage = await client.callTool({ name: 'usage_by_day', arguments: {} });
    assert.equal(usage.structuredContent.days.length, 14);
    assert.match(usage.content[0].text, /^Spent in 14 days/);
    const overview = await client.callTool({ name: 'account_overview', arguments: {} });
    assert.ok(Number.isInteger(overview.structuredContent.balanceCents));
    await client.close();
  });

  test(`the TypeScript client, ${era}, without MCP Apps`, async () => {
    const client = await connect(era, false);
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map(tool => tool.name).sort(), TOOLS.filter(name => name !== 'account_overview'));
    assert.ok(tools.every(tool => tool._meta?.ui === undefined));
    assert.equal(client.getServerCapabilities().resources, undefined);

    const balance = await client.callTool({ name: 'get_balance', arguments: {} });
    assert.match(balance.content[0].text, /^Balance: \d+\.\d\d EUR$/);
    await assert.rejects(client.callTool({ name: 'account_overview', arguments: {} }), { code: -32602 });
    await client.close();
  });
}

const none = { hasApp: false };

for (const era of Object.keys(ERAS)) {
  test(`MCP Inspector, ${era}, resolves the app that the layer gives`, async () => {
    assert.deepEqual(await appsByTool(`${demo.address}/mcp`, era), {
      account_overview: none,
      get_balance: none,
      settlement_history: none,
      usage_by_day: { hasApp: true, resourceUri: PAGE, resourceMimeType: APP_HTML, csp: CLOSED },
    });
    const bare = await appsByTool(`${demo.address}/bare/mcp`, era);
    assert.ok(TOOLS.every(name => !bare[name].hasApp));
  });
}

test('MCP Inspector resolves all that a server declares of its own app', async () => {
  const upstream = await startUpstream();
  const proxy = await startProxy(upstream.url);
  try {
    const map = { hasApp: true, resourceUri: URI, resourceMimeType: APP_HTML, ...DECLARED };
    const expected = { show_map: map, read_map: { ...map, visibility: ['app'] }, plain: none };
    assert.deepEqual(await appsByTool(proxy.address, 'legacy'), expected);
  } finally {
    await proxy.stop();
    await upstream.stop();
  }
});
