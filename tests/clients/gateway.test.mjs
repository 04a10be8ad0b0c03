// Two published servers and one of rmcp behind one endpoint: every UI resolves, and no app reaches another's tools.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { startDemo, startGateway } from './demo.mjs';
import { appsByTool } from './inspector.mjs';
import { startPublished } from '../kit/published.mjs';

const UI = 'io.modelcontextprotocol/ui', APP_HTML = 'text/html;profile=mcp-app';
const running = [], urls = {};
let gateway;

before(async () => {
  const [map, budget, demo] = await Promise.all([
    startPublished('server-map'), startPublished('server-budget-allocator'), startDemo(),
  ]);
  running.push(map, budget, demo);
  Object.assign(urls, { map: map.url, budget: budget.url, account: `${demo.address}/mcp` });
  gateway = await startGateway(urls, ['--app-header', 'x-mcp-app']);
  running.push(gateway);
});
after(() => Promise.all(running.map(server => server.stop())));

async function connect(mode, headers = {}) {
  const capabilities = { extensions: { [UI]: { mimeTypes: [APP_HTML] } } };
  const client = new Client({ name: 'gateway-test', version: '1.0.0' }, { capabilities, versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(gateway.address), { requestInit: { headers } }));
  return client;
}

/** What the Inspector says of a server's own tools, under the names that they have behind the gateway. */
async function prefixed(name) {
  const withPrefix = uri => uri.replace('ui://', `ui://${name}+`);
  const apps = Object.entries(await appsByTool(urls[name], 'legacy'));
  return apps.map(([tool, app]) => [
    `${name}__${tool}`, app.resourceUri ? { ...app, resourceUri: withPrefix(app.resourceUri) } : app,
  ]);
}

test('MCP Inspector resolves through the gateway what it resolves at each server', async () => {
  const alone = (await Promise.all(Object.keys(urls).map(prefixed))).flat();
  const shown = alone.filter(([, app]) => app.hasApp).map(([tool]) => tool.split('__')[0]);
  assert.deepEqual([...new Set(shown)].sort(), Object.keys(urls).sort(), 'each server has an app');
  assert.deepEqual(await appsByTool(gateway.address, 'legacy'), Object.fromEntries(alone));
});

for (const mode of ['legacy', 'auto']) {
  test(`the TypeScript client, ${mode}, lists, reads and calls`, async () => {
    const client = await connect(mode);
    // One of the published servers knows no other era, so none is offered.
    assert.equal(client.getProtocolEra(), 'legacy');
    const { tools } = await client.listTools();
    const linked = tools.filter(tool => tool._meta?.ui?.resourceUri);
    for (const tool of linked) {
      const { contents: [page] } = await client.readResource({ uri: tool._meta.ui.resourceUri });
      assert.deepEqual([page.uri, page.mimeType], [tool._meta.ui.resourceUri, APP_HTML]);
      assert.match(page.text, /<html/i);
    }
    assert.deepEqual([...new Set(linked.map(tool => tool.name.split('__')[0]))].sort(), Object.keys(urls).sort());
    const usage = await client.callTool({ name: 'account__usage_by_day', arguments: {} });
    assert.equal(usage.structuredContent.days.length, 14);
    const budget = await client.callTool({ name: 'budget__get-budget-data', arguments: {} });
    assert.ok(budget.structuredContent.config.categories.length > 0);
    await client.close();
  });
}

test('an app calls its own server by the names that it knows, and no other', async () => {
  const own = await connect('legacy', { 'x-mcp-app': 'account' });
  const overview = await own.callTool({ name: 'account_overview', arguments: {} });
  assert.ok(Number.isInteger(overview.structuredContent.balanceCents));
  await own.close();
  const other = await connect('legacy', { 'x-mcp-app': 'map' });
  for (const name of ['account_overview', 'account__account_overview', 'get-budget-data']) {
    const refused = await other.callTool({ name, arguments: {} }).then(
      result => result.isError && /not found|unknown/i.test(result.content[0].text), error => error.code === -32602);
    assert.ok(refused, name);
  }
  await other.close();
});
