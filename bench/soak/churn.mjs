import { setTimeout as sleep } from 'node:timers/promises';
import { io } from 'socket.io-client';
import { bearer, signUp } from '../client.mjs';
import { startGatehouse } from '../gatehouse.mjs';
import { query } from '../postgres.mjs';
import { residentBytes } from '../processes.mjs';
import { descriptors, megabytes } from './idle-sockets.mjs';

const WORKERS = 6;
/** Caches fill and the compiler settles first. */
const WARM_SHARE = 0.25;

/** Logins, connections and tokens that come and go: does anything grow? */
export async function churn(context, { minutes }) {
  const gatehouse = await startGatehouse(context, { isPinned: false });
  const totalMs = minutes * 60_000;
  const endsAt = Date.now() + totalMs;
  let rounds = 0;
  const worker = async () => {
    while (Date.now() < endsAt) {
      await oneVisit(gatehouse.url);
      rounds += 1;
    }
  };
  const workers = Array.from({ length: WORKERS }, worker);
  await sleep(totalMs * WARM_SHARE);
  const samples = [];
  while (Date.now() < endsAt) {
    samples.push(await sample(context, gatehouse.child.pid));
    await sleep(Math.max(totalMs / 40, 1000));
  }
  await Promise.all(workers);
  gatehouse.child.kill('SIGKILL');
  const half = Math.floor(samples.length / 2);
  const line = (field, show) =>
    `${show(mean(samples.slice(0, half), field))} then ${show(mean(samples.slice(half), field))}`;
  return [
    [
      `${minutes} min of churn, ${rounds} visits; mean of the first half, then of the second`,
      `RSS ${line('resident', megabytes)}; descriptors ${line('descriptors', Math.round)}; ` +
        `database connections ${line('connections', Math.round)}`,
    ],
  ];
}

async function oneVisit(url) {
  const { token } = await signUp(url);
  const socket = io(url, {
    path: '/v1/updates',
    transports: ['websocket'],
    reconnection: false,
    forceNew: true,
    auth: { token },
  });
  await new Promise((resolve, reject) => {
    socket.once('hello', resolve);
    socket.once('connect_error', reject);
  });
  const headers = { 'content-type': 'application/json', ...bearer(token) };
  const send = (method, path, body) =>
    fetch(`${url}${path}`, { method, headers, body: body && JSON.stringify(body) }).then((answer) =>
      answer.arrayBuffer(),
    );
  await send('POST', '/v1/push-tokens', { token: 'x' });
  await send('POST', '/v1/auth/logout', {});
  socket.close();
}

async function sample({ databaseUrl }, pid) {
  const [{ count }] = await query(
    databaseUrl,
    `SELECT count(*) AS count FROM pg_stat_activity WHERE application_name = 'gatehouse'`,
  );
  return {
    resident: residentBytes(pid),
    descriptors: descriptors(pid),
    connections: Number(count),
  };
}

function mean(samples, field) {
  return samples.reduce((sum, one) => sum + one[field], 0) / Math.max(samples.length, 1);
}
