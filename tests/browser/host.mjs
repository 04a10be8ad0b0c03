// A host in the browser, made of the official parts: the TypeScript client, and the AppBridge of ext-apps for the frame.
// The tests call `host`.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { AppBridge, getToolUiResourceUri, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';

const UI = 'io.modelcontextprotocol/ui', APP_HTML = 'text/html;profile=mcp-app';
const ME = { name: 'reference-host', version: '1.0.0' };
const ERAS = { modern: { mode: { pin: '2026-07-28' } }, legacy: { mode: 'legacy' } };

/** A client of the server at this path: one that declares MCP Apps, or a model's that does not. */
async function connect(path, era, hasApps) {
  const capabilities = hasApps ? { extensions: { [UI]: { mimeTypes: [APP_HTML] } } } : {};
  const client = new Client(ME, { capabilities, versionNegotiation: ERAS[era] });
  await client.connect(new StreamableHTTPClientTransport(new URL(path, location.href)));
  return client;
}

/** Calls a tool, and shows its app with what it gave. Gives what the server declares of the app. */
async function show(path, era, name, sandbox) {
  const client = await connect(path, era, true);
  const { tools } = await client.listTools();
  const uri = getToolUiResourceUri(tools.find(tool => tool.name === name));
  const { contents: [page] } = await client.readResource({ uri });
  if (page.mimeType !== APP_HTML) throw new Error(`${uri} is ${page.mimeType}`);
  const declared = page._meta?.ui ?? {};
  const result = await client.callTool({ name, arguments: {} });

  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts allow-same-origin');
  frame.style = 'width: 900px; height: 700px; border: 0';
  document.body.replaceChildren(frame);
  const bridge = new AppBridge(client, ME, { openLinks: {}, serverTools: {}, logging: {} }, { hostContext: { theme: 'light' } });
  const ready = new Promise(resolve => bridge.addEventListener('initialized', resolve));
  bridge.addEventListener('sandboxready', () => bridge.sendSandboxResourceReady({ html: page.text, sandbox: 'allow-scripts' }));
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.src = `${sandbox}/?${new URLSearchParams({ csp: JSON.stringify(declared.csp ?? {}) })}`;
  await ready;
  await bridge.sendToolInput({ arguments: {} });
  await bridge.sendToolResult(result);
  return { declared, tools: tools.map(tool => tool.name) };
}

/** What a model gets: the tools that are listed for it, and what a call of this one comes to. */
async function asModel(path, era, name) {
  const client = await connect(path, era, false);
  const { tools } = await client.listTools();
  const call = await client.callTool({ name, arguments: {} }).then(() => 'it ran', error => error.code);
  await client.close();
  return { tools: tools.map(tool => tool.name), call };
}

globalThis.host = { show, asModel };
