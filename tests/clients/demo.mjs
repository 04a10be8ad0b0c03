// Starts an example for a test, and stops it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = process.env.EXAMPLES ?? `${process.env.CARGO_TARGET_DIR ?? `${root}/target`}/debug/examples`;
const START_MS = 30_000;

/** The running example: the address that it printed, and how to stop it. */
async function start(name, args, pattern) {
  const child = spawn(`${folder}/${name}`, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child, 'spawn');
  const kill = () => child.kill();
  process.once('exit', kill);
  const late = setTimeout(kill, START_MS);
  const printed = [];
  let address;
  for await (const line of createInterface(child.stdout)) {
    printed.push(line);
    [address] = line.match(pattern) ?? [];
    if (address) break;
  }
  clearTimeout(late);
  if (!address) throw new Error(`${name} gave no address:\n${printed.join('\n')}`);
  child.stdout.resume();
  const stop = async () => {
    process.off('exit', kill);
    const ended = once(child, 'exit');
    if (child.kill()) await ended;
  };
  return { address, stop };
}

/** `examples/wrap_server`; the address is that of its page, without a slash behind. */
export const startDemo = () => start('wrap_server', [], /(?<=To see it: )\S+(?=\/$)/);

/** `examples/reverse_proxy` in front of a server, with these flags. */
export const startProxy = (upstream, ...flags) =>
  start('reverse_proxy', ['--listen', '127.0.0.1:0', '--upstream', upstream, ...flags], /http:\S+/);

/** `examples/gateway` in front of servers: their URLs by name, and further flags. */
export const startGateway = (upstreams, flags = []) => {
  const named = Object.entries(upstreams).flatMap(([name, url]) => ['--upstream', `${name}=${url}`]);
  return start('gateway', ['--listen', '127.0.0.1:0', ...named, ...flags], /http:\S+/);
};
