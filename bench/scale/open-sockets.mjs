import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { signUp } from '../client.mjs';
import { CPU_OF, messageFrom, startNode } from '../processes.mjs';

/** SERVICE_UPDATES_MAX_CONNECTIONS_PER_ACCOUNT. */
const PER_ACCOUNT = 100;
const PER_PROCESS = 10_000;
const CONNECTED_WITHIN_MS = 120_000;
/** Descriptors for other files of the server and for the watched accounts. */
const OTHER_DESCRIPTORS = 600;

/** As many sockets as a process of this machine may have open. */
export function mostSockets() {
  const limits = readFileSync('/proc/self/limits', 'utf8');
  const descriptors = Number(/^Max open files\s+\d+\s+(\d+)/m.exec(limits)[1]);
  const range = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split('\t');
  return Math.min(descriptors, Number(range[1]) - Number(range[0])) - OTHER_DESCRIPTORS;
}

/** Enough accounts for that many sockets. @returns {Promise<string[]>} their tokens */
export async function signUpFor(url, sockets) {
  const tokens = [];
  while (tokens.length * PER_ACCOUNT < sockets) {
    tokens.push((await signUp(url)).token);
  }
  return tokens;
}

/**
 * Opens sockets that stay, from one load process after the other.
 *
 * @returns {Promise<{seconds: number, close: () => Promise<void>}>}
 */
export async function openSockets(context, port, count, tokens) {
  const processes = [];
  let seconds = 0;
  for (let open = 0; open < count; open += PER_PROCESS) {
    const load = startNode({
      file: join(import.meta.dirname, '../load/socket-load.mjs'),
      cpu: CPU_OF.load,
      directory: context.directory,
    });
    processes.push(load);
    load.child.send({
      port,
      count: Math.min(count - open, PER_PROCESS),
      tokens: tokens.slice(open / PER_ACCOUNT, (open + PER_PROCESS) / PER_ACCOUNT),
    });
    seconds += (await messageFrom(load, CONNECTED_WITHIN_MS)).seconds;
  }
  return { seconds, close: () => Promise.all(processes.map((load) => load.stop())) };
}
