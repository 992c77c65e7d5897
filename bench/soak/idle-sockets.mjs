import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { signUp } from '../client.mjs';
import { startGatehouse } from '../gatehouse.mjs';
import { cpuTimeMs, messageFrom, residentBytes, startNode } from '../processes.mjs';

const PER_ACCOUNT = 100;
const WATCH_MS = 30_000;
const CONNECT_WITHIN_MS = 300_000;

export const megabytes = (bytes) => `${Math.round(bytes / 1024 / 1024)} MB`;

export const descriptors = (pid) => readdirSync(`/proc/${pid}/fd`).length;

/** Connections that say nothing: are they held, and what do they cost? */
export async function idleSockets(context, { sockets }) {
  const gatehouse = await startGatehouse(context, { isPinned: false });
  const { pid } = gatehouse.child;
  const accounts = Math.ceil(sockets / PER_ACCOUNT);
  const tokens = [];
  for (let count = 0; count < accounts; count += 1) {
    tokens.push((await signUp(gatehouse.url)).token);
  }
  const before = residentBytes(pid);
  const clients = startNode({
    file: join(import.meta.dirname, '../load/socket-load.mjs'),
    directory: context.directory,
  });
  const connected = messageFrom(clients, CONNECT_WITHIN_MS);
  clients.child.send({ port: gatehouse.port, count: sockets, tokens });
  const { seconds } = await connected;
  const after = residentBytes(pid);
  const cpuBefore = cpuTimeMs(pid);
  await sleep(WATCH_MS);
  const cpuShare = (cpuTimeMs(pid) - cpuBefore) / WATCH_MS;
  const held = descriptors(pid);
  clients.child.kill('SIGKILL');
  gatehouse.child.kill('SIGKILL');
  return [
    [
      `${sockets} idle connections on one replica`,
      `${held} descriptors after ${WATCH_MS / 1000} s; RSS ${megabytes(before)} to ` +
        `${megabytes(after)}, ${Math.round((after - before) / sockets / 1024)} KiB each`,
    ],
    [
      'handshakes, 50 at a time',
      `${Math.round(sockets / seconds)}/s, ${((50 * seconds * 1000) / sockets).toFixed(1)} ms each`,
    ],
    ['CPU while idle, each judged every 5 s', `${(cpuShare * 100).toFixed(1)} % of a core`],
  ];
}
