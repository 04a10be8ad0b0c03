// The demo through clients of other makes: the TypeScript SDK's first line, which speaks the legacy era only, and the
// Python SDK, in both eras.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { startDemo } from './demo.mjs';

const UI = 'io.modelcontextprotocol/ui', APP_HTML = 'text/html;profile=mcp-app', PAGE = 'ui://account/dashboard';
const CLOSED = { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] };
const TOOLS = ['account_overview', 'get_balance', 'settlement_history', 'usage_by_day'];
const FOR_MODELS = TOOLS.filter(name => name !== 'account_overview');

let demo;
before(async () => { demo = await startDemo(); });
after(() => demo?.stop());

for (const hasApps of [true, false]) {
  test(`the TypeScript SDK 1.x, ${hasApps ? 'with' : 'without'} MCP Apps`, async () => {
    const capabilities = hasApps ? { extensions: { [UI]: { mimeTypes: [APP_HTML] } } } : {};
    const client = new Client({ name: 'clients-test', version: '1.0.0' }, { capabilities });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${demo.address}/mcp`)));
    const { tools } = await client.listTools();
    const ui = Object.fromEntries(tools.map(tool => [tool.name, tool._meta?.ui]));
    assert.deepEqual(Object.keys(ui).sort(), hasApps ? TOOLS : FOR_MODELS);
    if (hasApps) {
      assert.deepEqual([ui.usage_by_day, ui.account_overview], [{ resourceUri: PAGE }, { visibility: ['app'] }]);
      const { resources } = await client.listResources();
      assert.deepEqual(resources.map(({ uri, mimeType }) => [uri, mimeType]), [[PAGE, APP_HTML]]);
      const { contents: [page] } = await client.readResource({ uri: PAGE });
      assert.deepEqual([page.mimeType, page._meta], [APP_HTML, { ui: { csp: CLOSED } }]);
      const { structuredContent } = await client.callTool({ name: 'account_overview', arguments: {} });
      assert.ok(Number.isInteger(structuredContent.balanceCents));
    } else {
      assert.ok(Object.values(ui).every(it => it === undefined));
      await assert.rejects(client.callTool({ name: 'account_overview', arguments: {} }), { code: -32602 });
    }
    const balance = await client.callTool({ name: 'get_balance', arguments: {} });
    assert.match(balance.content[0].text, /^Balance: \d+\.\d\d EUR$/);
    await client.close();
  });
}

/** What the Python client sees. */
async function python(...args) {
  const script = fileURLToPath(new URL('client.py', import.meta.url));
  const interpreter = fileURLToPath(new URL('.venv/bin/python', import.meta.url));
  const { stdout } = await promisify(execFile)(interpreter, [script, ...args], { timeout: 60_000 });
  return JSON.parse(stdout);
}

for (const [era, version] of [['legacy', '2025-11-25'], ['modern', '2026-07-28']]) {
  test(`the Python SDK 2.x, ${era}, with MCP Apps`, async () => {
    const seen = await python(`${demo.address}/mcp`, era, 'apps');
    assert.equal(seen.version, version);
    assert.deepEqual(seen.extensions, { [UI]: { mimeTypes: [APP_HTML] } });
    assert.deepEqual(Object.keys(seen.tools).sort(), TOOLS);
    assert.deepEqual([seen.tools.usage_by_day, seen.tools.account_overview], [{ resourceUri: PAGE }, { visibility: ['app'] }]);
    assert.deepEqual(seen.resources, [[PAGE, APP_HTML]]);
    assert.deepEqual([seen.page.mimeType, seen.page.meta], [APP_HTML, { ui: { csp: CLOSED } }]);
    assert.ok(seen.page.length > 1000);
    assert.match(seen.calls.usage_by_day, /^Spent in 14 days/);
    assert.match(seen.calls.account_overview, /balanceCents/);
  });

  test(`the Python SDK 2.x, ${era}, without MCP Apps`, async () => {
    const seen = await python(`${demo.address}/mcp`, era);
    assert.equal(seen.version, version);
    assert.deepEqual(Object.keys(seen.tools).sort(), FOR_MODELS);
    assert.ok(Object.values(seen.tools).every(ui => ui === null));
    assert.match(seen.calls.get_balance, /^Balance: \d+\.\d\d EUR$/);
    assert.equal(seen.calls.account_overview, -32602);
  });
}
