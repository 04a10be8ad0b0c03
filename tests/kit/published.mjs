// Starts a server that npm has, on loopback whatever it wants to listen on.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The endpoint of a server of `@modelcontextprotocol` that is installed in the working directory, and how to stop it. */
export async function startPublished(name) {
  const port = await freePort();
  const args = [
    '--require', fileURLToPath(new URL('loopback.cjs', import.meta.url)),
    `node_modules/@modelcontextprotocol/${name}/dist/index.js`,
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, PORT: String(port) } });
  const late = setTimeout(() => child.kill(), 30_000);
  // It says so when it listens.
  const [line] = await once(createInterface(child.stdout), 'line');
  clearTimeout(late);
  child.stdout.resume();
  if (!line.includes(`:${port}/mcp`)) throw new Error(`${name}: ${line}`);
  return { url: `http://127.0.0.1:${port}/mcp`, stop: () => child.kill() };
}

async function freePort() {
  const server = createServer();
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise(resolve => server.close(resolve));
  return port;
}
