// Starts `examples/wrap_server` for a test, and stops it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const START_MS = 30_000;

/** The running example: what it printed, the address it gave, and how to stop it. */
export async function startDemo() {
  const binary = process.env.DEMO ?? `${process.env.CARGO_TARGET_DIR ?? `${root}/target`}/debug/examples/wrap_server`;
  const child = spawn(binary, { stdio: ['ignore', 'pipe', 'inherit'] });
  const kill = () => child.kill();
  process.once('exit', kill);
  const late = setTimeout(kill, START_MS);
  const printed = [];
  let address;
  for await (const line of createInterface(child.stdout)) {
    printed.push(line);
    [, address] = line.match(/To see it: (\S+)\/$/) ?? [];
    if (address) break;
  }
  clearTimeout(late);
  if (!address) throw new Error(`${binary} gave no address:\n${printed.join('\n')}`);
  child.stdout.resume();
  const stop = async () => {
    process.off('exit', kill);
    const ended = once(child, 'exit');
    if (child.kill()) await ended;
  };
  return { address, printed, stop };
}
