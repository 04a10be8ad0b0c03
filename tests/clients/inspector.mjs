// MCP Inspector's CLI, asked what it knows of each tool's app.

import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** What the Inspector says of each tool's app, in this era. Its settings go to a folder of their own. */
export async function appsByTool(url, era) {
  const launcher = 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js';
  const args = [
    '--cli', url, '--transport', 'http', '--protocol-era', era, '--method', 'tools/list', '--app-info', '--advertise-apps',
  ];
  const home = await mkdtemp(join(tmpdir(), 'inspector-'));
  try {
    const { stdout } = await promisify(execFile)(
      process.execPath, [fileURLToPath(new URL(launcher, import.meta.url)), ...args],
      { timeout: 60_000, env: { ...process.env, HOME: home } },
    );
    return Object.fromEntries(stdout.trim().split('\n').map(line => {
      const { toolName, ...info } = JSON.parse(line);
      return [toolName, info];
    }));
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
