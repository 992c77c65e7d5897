import { setTimeout as sleep } from 'node:timers/promises';
import { postJson } from '../client.mjs';
import { startGatehouse } from '../gatehouse.mjs';
import { cpuTimeMs, residentBytes } from '../processes.mjs';
import { median } from '../report.mjs';
import { mostSockets, openSockets, signUpFor } from './open-sockets.mjs';
import { rowsOf, sizesUpTo } from './table.mjs';
import { watchAccount } from './watched-account.mjs';

const SIZES = [1000, 5000, 10_000, 20_000];
const WATCHED = 50;
const UPDATES = 5;
const REVOCATIONS = 3;
const SETTLE_MS = 1000;
const IDLE_MS = 10_000;

const FIGURES = [
  ['connections', '/s'],
  ['CPU a connection', 'µs'],
  ['resident memory a connection', 'KiB'],
  [`an update, until the last of ${WATCHED} sockets of its account has it`, 'ms'],
  [`logout everywhere, until the last of ${WATCHED} sockets is closed`, 'ms'],
  ['CPU while all are idle', '% of a core'],
];

/** Sockets that stand open on one server: what each costs, and what those of one account wait for the others. */
export const group = {
  name: 'sockets',
  run: async (context) => {
    const sizes = sizesUpTo(Math.min(mostSockets(), context.most), SIZES);
    const measured = [];
    for (const size of sizes) {
      console.error(`  ${size} sockets`);
      measured.push(await measure(context, size));
    }
    return [{ name: 'sockets', of: 'open sockets', sizes, rows: rowsOf(FIGURES, measured) }];
  },
};

async function measure(context, size) {
  const most = `${size + WATCHED}`;
  const gatehouse = await startGatehouse(context, {
    env: { SERVICE_UPDATES_MAX_CONNECTIONS: most },
  });
  const { pid, port, url } = gatehouse;
  const tokens = await signUpFor(url, size);
  await sleep(SETTLE_MS);
  const before = { cpuMs: cpuTimeMs(pid), resident: residentBytes(pid) };
  const sockets = await openSockets(context, port, size, tokens);
  const cpuMs = cpuTimeMs(pid) - before.cpuMs;
  await sleep(SETTLE_MS);
  const resident = residentBytes(pid) - before.resident;
  const idle = await idleShare(pid);
  const updateMs = await timeUpdates(url);
  const revocationMs = await timeRevocations(url);
  await Promise.all([sockets.close(), gatehouse.stop()]);
  return [
    size / sockets.seconds,
    (cpuMs * 1000) / size,
    resident / size / 1024,
    updateMs,
    revocationMs,
    idle * 100,
  ];
}

async function idleShare(pid) {
  const cpuBefore = cpuTimeMs(pid);
  await sleep(IDLE_MS);
  return (cpuTimeMs(pid) - cpuBefore) / IDLE_MS;
}

async function timeUpdates(url) {
  const account = await watchAccount(url, WATCHED);
  const times = [];
  for (let index = 0; index < UPDATES; index += 1) {
    const body = { token: `ExponentPushToken[${index}]` };
    times.push(
      await account.timeUntil('update', () =>
        postJson(`${url}/v1/push-tokens`, body, account.token),
      ),
    );
  }
  account.close();
  await sleep(SETTLE_MS);
  return median(times);
}

async function timeRevocations(url) {
  const times = [];
  for (let index = 0; index < REVOCATIONS; index += 1) {
    const { token, timeUntil } = await watchAccount(url, WATCHED);
    times.push(
      await timeUntil('disconnect', () => postJson(`${url}/v1/auth/logout-everywhere`, {}, token)),
    );
  }
  return median(times);
}
