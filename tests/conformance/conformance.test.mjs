// Runs the official suite against one server, bare and behind the proxy: check for check the same verdict.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startProxy } from '../clients/demo.mjs';

const REVISIONS = ['2025-11-25', '2026-07-28'];
/** The least that the suite has for each revision: fewer were not run. */
const LEAST_CHECKS = { '2025-11-25': 80, '2026-07-28': 190 };
const STACKS = {
  'as it comes': [],
  'with all options': [
    '--flat-key', 'both', '--openai-keys', '--strip-ui-for-text-clients', '--allow-connect', 'https://api.example.com',
    '--allow-resource', 'https://*.example.com', '--on-violation', 'restrict', '--audit', '/dev/null',
    '--app', `ui://conformance/served=${fileURLToPath(new URL('served.html', import.meta.url))}`,
    '--link', 'test_simple_text=ui://conformance/served',
  ],
  'for hosts': ['--audience', 'host'],
};
const path = name => fileURLToPath(new URL(name, import.meta.url));
const suite = path('node_modules/@modelcontextprotocol/conformance/dist/index.js');

let server, url;
const verdicts = {}; // of the bare server, by revision

before(async () => {
  server = spawn(process.execPath, [path('server.mjs')], { stdio: ['ignore', 'pipe', 'inherit'] });
  [url] = await once(createInterface(server.stdout), 'line');
  for (const revision of REVISIONS) verdicts[revision] = await run(url, revision);
});
after(() => server?.kill());

/**
 * The verdicts of one run: by scenario, each check's id and status, in order. The server's SDK loses what it asks the client
 * while that client's GET is still on its way, which happens behind any proxy (behind `bare_proxy`, which has no layer, as often):
 * a scenario that timed out is tried again, up to three times.
 */
async function run(url, revision) {
  const all = await verdictsOf(url, revision, ['--requirements', revision]);
  for (let tries = 0; tries < 3; tries++) {
    const late = Object.keys(all).filter(name => all[name].some(it => it.startsWith('scenario-timeout: ')));
    for (const name of late) {
      console.log(`${name} of ${revision} timed out and is tried again`);
      const again = ['--scenario', name, '--spec-version', revision, '--timeout', '15000'];
      Object.assign(all, await verdictsOf(url, revision, again));
    }
  }
  return all;
}

async function verdictsOf(url, revision, which) {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-'));
  try {
    const args = [suite, 'server', '--url', url, ...which, '--output-dir', folder];
    // Which checks fail is in the files; the status says no more than that some do.
    await once(spawn(process.execPath, args, { stdio: 'ignore', timeout: 240_000 }), 'exit');
    const all = {};
    for (const name of (await readdir(folder)).sort()) {
      const [, scenario] = name.match(/^server-(.*)-\d{4}-\d\d-\d\dT/);
      const checks = JSON.parse(await readFile(join(folder, name, 'checks.json'), 'utf8'));
      all[scenario] = checks.map(({ id, status }) => `${id}: ${status}`);
    }
    return all;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

for (const revision of REVISIONS) {
  test(`${revision}: the server alone passes what is required`, t => {
    const checks = Object.values(verdicts[revision]).flat();
    const failed = Object.keys(verdicts[revision]).filter(name => verdicts[revision][name].some(it => it.endsWith(': FAILURE')));
    t.diagnostic(`${checks.length} checks in ${Object.keys(verdicts[revision]).length} scenarios`);
    assert.ok(checks.length >= LEAST_CHECKS[revision], `${checks.length} checks`);
    // Tasks are an extension that the server has not, and its SDK does not check custom headers.
    assert.deepEqual(failed.filter(name => !/^tasks-|^http-custom-header/.test(name)), []);
  });

  for (const [name, flags] of Object.entries(STACKS)) {
    test(`${revision}: the same verdicts through the proxy ${name}`, async t => {
      const proxy = await startProxy(url, ...flags);
      try {
        const through = await run(proxy.address, revision);
        t.diagnostic(`${Object.values(through).flat().length} checks compared`);
        assert.deepEqual(through, verdicts[revision]);
      } finally {
        await proxy.stop();
      }
    });
  }
}
