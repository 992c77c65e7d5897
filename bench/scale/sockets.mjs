import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { request, signUp, signUpAll } from '../client.mjs';
import { connect } from '../fixtures.mjs';
import { startGatehouse } from '../gatehouse.mjs';
import { ask, cpuTimeMs, residentBytes, startLoad } from '../processes.mjs';
import { measureSizes, median, sizesUpTo } from '../report.mjs';

const SIZES = [1000, 5000, 10_000, 20_000];
const WATCHED = 50;
const UPDATES = 5;
const REVOCATIONS = 3;
const SETTLE_MS = 1000;
const IDLE_MS = 10_000;
/** Half of SERVICE_UPDATES_MAX_CONNECTIONS_PER_ACCOUNT: each account has one session here. */
const PER_ACCOUNT = 50;
const PER_PROCESS = 10_000;
const CONNECTED_WITHIN_MS = 120_000;
/** Descriptors for other files of the server and for the watched accounts. */
const OTHER_DESCRIPTORS = 600;

const FIGURES = [
  ['connections', '/s'],
  ['CPU a connection', 'µs'],
  ['resident memory a connection', 'KiB'],
  [`an update, until the last of ${WATCHED} sockets of its account has it`, 'ms'],
  [`logout everywhere, until the last of ${WATCHED} sockets is closed`, 'ms'],
  ['CPU while all are idle', '% of a core'],
];

/** Sockets that stand open on one server: what each costs, and what those of one account wait for the others. */
export const groups = {
  sockets: async (context) => {
    const sizes = sizesUpTo(Math.min(mostSockets(), context.most), SIZES);
    const measured = await measureSizes(sizes, 'sockets', (size) => measure(context, size));
    return [{ of: 'open sockets', sizes, figures: FIGURES, measured }];
  },
};

/** As many sockets as a process of this machine may have open. */
function mostSockets() {
  const limits = readFileSync('/proc/self/limits', 'utf8');
  const descriptors = Number(/^Max open files\s+\d+\s+(\d+)/m.exec(limits)[1]);
  const range = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split('\t');
  return Math.min(descriptors, Number(range[1]) - Number(range[0])) - OTHER_DESCRIPTORS;
}

async function measure(context, size) {
  const env = { SERVICE_UPDATES_MAX_CONNECTIONS: `${size + WATCHED}` };
  const gatehouse = await startGatehouse(context, { env });
  const { pid, url } = gatehouse;
  const before = { cpuMs: cpuTimeMs(pid), resident: residentBytes(pid) };
  const sockets = await openSockets(context, gatehouse, size, async () => {
    await sleep(SETTLE_MS);
    Object.assign(before, { cpuMs: cpuTimeMs(pid), resident: residentBytes(pid) });
  });
  const cpuMs = cpuTimeMs(pid) - before.cpuMs;
  await sleep(SETTLE_MS);
  const resident = residentBytes(pid) - before.resident;
  const idleFrom = cpuTimeMs(pid);
  await sleep(IDLE_MS);
  const idle = (cpuTimeMs(pid) - idleFrom) / IDLE_MS;
  const updateMs = await timeUpdates(url);
  const revocationMs = await timeEnds(url, WATCHED, REVOCATIONS, ({ token }) =>
    request(url, 'POST', '/v1/auth/logout-everywhere', { token, body: {} }),
  );
  await Promise.all([sockets.close(), gatehouse.stop()]);
  const each = [size / sockets.seconds, (cpuMs * 1000) / size, resident / size / 1024];
  return [...each, updateMs, revocationMs, idle * 100];
}

/**
 * Opens sockets that stay, of new accounts, from one load process after the other.
 *
 * @param {() => Promise<void>} begin runs when the accounts are there
 * @returns {Promise<{seconds: number, close: () => Promise<void>}>}
 */
export async function openSockets(context, { url, port }, count, begin = async () => {}) {
  const accounts = await signUpAll(url, Math.ceil(count / PER_ACCOUNT));
  const tokens = accounts.map(({ token }) => token);
  await begin();
  const processes = [];
  let seconds = 0;
  for (let open = 0; open < count; open += PER_PROCESS) {
    const load = startLoad(context, 'socket-load.mjs');
    processes.push(load);
    const part = {
      port,
      count: Math.min(count - open, PER_PROCESS),
      tokens: tokens.slice(open / PER_ACCOUNT, (open + PER_PROCESS) / PER_ACCOUNT),
    };
    seconds += (await ask(load, part, CONNECTED_WITHIN_MS)).seconds;
  }
  return { seconds, close: () => Promise.all(processes.map((load) => load.stop())) };
}

async function timeUpdates(url) {
  const { sockets, token } = await watchAccount(url, WATCHED);
  const times = [];
  for (let index = 0; index < UPDATES; index += 1) {
    const body = { token: `ExponentPushToken[${index}]` };
    const received = sockets.map((socket) => socket.next('update'));
    times.push(
      await timeUntil(received, () => request(url, 'POST', '/v1/push-tokens', { token, body })),
    );
  }
  sockets.forEach((socket) => socket.close());
  await sleep(SETTLE_MS);
  return median(times);
}

/** Ends the access of one account after the other. @returns the median ms until all its sockets are closed */
export async function timeEnds(url, watched, count, end) {
  const times = [];
  for (let index = 0; index < count; index += 1) {
    const { sockets, ...account } = await watchAccount(url, watched);
    const closed = sockets.map(({ disconnected }) => disconnected);
    times.push(await timeUntil(closed, () => end(account)));
  }
  return median(times);
}

/**
 * An account of its own with open sockets.
 *
 * @param {string} url that it signs up at, and connects to
 * @param {number} count of sockets, at most {@link PER_ACCOUNT}
 * @param {(account: {accountId: string}) => Promise<void>} prepare runs before the sockets are opened
 */
export async function watchAccount(url, count, prepare = async () => {}) {
  const account = await signUp(url);
  await prepare(account);
  const { token } = account;
  const opened = Array.from({ length: count }, () => connect({ url }, { token }));
  const sockets = await Promise.all(opened);
  await Promise.all(sockets.map((socket) => socket.next('hello')));
  return { ...account, sockets };
}

/** @returns {Promise<number>} ms from the start of `act` until all of that has happened */
export async function timeUntil(happened, act) {
  const startedAt = performance.now();
  await Promise.all([...happened, act()]);
  return performance.now() - startedAt;
}
