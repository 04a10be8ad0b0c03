// The two origins of the host: its page, with the servers' endpoints below it, and the sandbox that frames are in.

import { createServer, request as ask } from 'node:http';
import { readFile } from 'node:fs/promises';
import { build } from 'esbuild';

const local = name => new URL(name, import.meta.url);
// The sandbox proxy that the demo has, too. The policy is our own.
const SANDBOX = local('../../examples/wrap_server/frame.html');

/** The policy for what an app declares (MCP Apps, "Content Security Policy Enforcement"). */
function policy({ connectDomains = [], resourceDomains = [], frameDomains = [], baseUriDomains = [] }) {
  const list = (...sources) => sources.length ? sources.join(' ') : "'none'";
  return [
    "default-src 'none'",
    `script-src ${list("'unsafe-inline'", ...resourceDomains)}`,
    `style-src ${list("'unsafe-inline'", ...resourceDomains)}`,
    ...['img-src', 'media-src'].map(name => `${name} ${list('data:', ...resourceDomains)}`),
    `font-src ${list(...resourceDomains)}`,
    `connect-src ${list(...connectDomains)}`,
    `frame-src ${list(...frameDomains)}`,
    `base-uri ${list(...baseUriDomains)}`,
    "object-src 'none'",
  ].join('; ');
}

async function listen(handle) {
  const server = createServer(handle);
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  const stop = () => { server.close(); server.closeAllConnections(); };
  return { origin: `http://127.0.0.1:${server.address().port}`, stop };
}

/** Passes a request on as it is, but for where it goes. */
function forward(request, response, url) {
  const headers = { ...request.headers, host: new URL(url).host };
  // Servers may take the origins that they know only; the page's is not theirs.
  delete headers.origin;
  const onward = ask(url, { method: request.method, headers }, answer => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', () => response.destroy());
  response.on('close', () => onward.destroy());
  request.pipe(onward);
}

/** Starts both. `endpoints` are the URLs of servers, by the path under which the page finds them. */
export async function startHosting(endpoints) {
  const bundle = await build({
    entryPoints: [local('host.mjs').pathname], bundle: true, format: 'esm', write: false, platform: 'browser', logLevel: 'error',
  });
  const html = '<!doctype html><meta charset="utf-8"><title>Host</title><body><script type="module" src="/host.js"></script></body>';
  const page = await listen((request, response) => {
    const endpoint = endpoints[request.url];
    if (endpoint) return forward(request, response, endpoint);
    const isScript = request.url === '/host.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? bundle.outputFiles[0].text : html);
  });
  const proxy = await readFile(SANDBOX);
  const sandbox = await listen((request, response) => {
    const csp = JSON.parse(new URL(request.url, 'http://sandbox').searchParams.get('csp') ?? '{}');
    response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy(csp) }).end(proxy);
  });
  return { page: page.origin, sandbox: sandbox.origin, stop: () => { page.stop(); sandbox.stop(); } };
}
