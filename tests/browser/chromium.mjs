// Debian's Chromium for a test, with a profile of its own that goes with it.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];

/** Starts it; gives its context and how to stop it. */
export async function startChromium(viewport) {
  const profile = await mkdtemp(join(tmpdir(), 'browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true, args: FLAGS, viewport,
    colorScheme: 'light', locale: 'en-GB', timezoneId: 'UTC', timeout: 60_000,
  });
  context.setDefaultTimeout(20_000);
  const stop = async () => {
    await context.close();
    await rm(profile, { recursive: true, force: true });
  };
  return { context, stop };
}
