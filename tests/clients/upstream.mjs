// A server by hand (2025-11-25, no sessions) that declares its app in the deprecated way, and all that an app can declare.

import { createServer } from 'node:http';

export const URI = 'ui://by-hand/map';
export const DECLARED = {
  csp: { connectDomains: ['https://api.example.com', 'wss://live.example.com'], resourceDomains: ['https://*.cdn.example.com'] },
  permissions: { geolocation: {}, clipboardWrite: {} },
  domain: 'map.example.com',
};

const inputSchema = { type: 'object' };

/** What it answers, by method. */
const results = (ui, text) => {
  const resource = { uri: URI, name: 'map', mimeType: 'text/html;profile=mcp-app', _meta: { ui } };
  return {
    'initialize': {
      protocolVersion: '2025-11-25', capabilities: { tools: {}, resources: {} }, serverInfo: { name: 'by-hand', version: '1.0.0' },
    },
    'ping': {},
    'tools/list': { tools: [
      { name: 'show_map', inputSchema, _meta: { 'ui/resourceUri': URI } },
      { name: 'read_map', inputSchema, _meta: { 'ui': { resourceUri: URI, visibility: ['app'] } } },
      { name: 'plain', inputSchema },
    ] },
    'tools/call': { content: [{ type: 'text', text: 'Done.' }] },
    'resources/list': { resources: [resource] },
    'resources/read': { contents: [{ ...resource, name: undefined, text }] },
  };
};

/** Starts it on a free port, with an app that declares this; gives its address and how to stop it. */
export async function startUpstream(declared = DECLARED, html = '<!doctype html><html><title>Map</title></html>') {
  const all = results(declared, html);
  const server = createServer(async (request, response) => {
    const body = (await request.toArray()).join('');
    if (request.method !== 'POST') return response.writeHead(405).end();
    const { id, method } = JSON.parse(body);
    if (id === undefined) return response.writeHead(202).end();
    const result = all[method];
    const answer = result ? { result } : { error: { code: -32601, message: 'Method not found' } };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}/mcp`, stop: () => new Promise(resolve => { server.close(resolve); server.closeAllConnections(); }) };
}
