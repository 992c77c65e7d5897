import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeDeviceKey, signedLogin, signUp } from '../client.mjs';
import { startGatehouse } from '../gatehouse.mjs';
import { query } from '../postgres.mjs';

const CLIENTS = 8;
const FULL_LOAD_MS = 5000;

/** PostgreSQL stops for a while at half of the load that the server can take. */
export async function databaseAway(context, { pauseMs }) {
  const gatehouse = await startGatehouse(context, { isPinned: false });
  const revoked = await revokedToken(gatehouse.url);
  const atMost = await load(gatehouse.url, revoked, 0, () => sleep(FULL_LOAD_MS));
  const fullRate = atMost.acknowledged.length / (FULL_LOAD_MS / 1000);
  let backAt = 0;
  const outcome = await load(gatehouse.url, revoked, (CLIENTS * 2000) / fullRate, async () => {
    await sleep(3000);
    const pids = await serverProcesses(context);
    signal(pids, 'SIGSTOP');
    await sleep(pauseMs);
    signal(pids, 'SIGCONT');
    backAt = Date.now();
    await sleep(8000);
  });
  const recovered = outcome.acknowledged.find(({ at }) => at > backAt)?.at ?? Infinity;
  const lost = await lostOf(context, outcome.acknowledged);
  gatehouse.child.kill('SIGKILL');
  return [
    [
      `PostgreSQL paused ${pauseMs / 1000} s at half of ${Math.round(fullRate)} sign-ups/s`,
      `${outcome.acknowledged.length} acknowledged, ${lost} of them lost; ${outcome.refused} times ` +
        `503 with Retry-After; other answers: ${JSON.stringify(outcome.other)}; revoked token accepted ` +
        `${outcome.wrong} times; slowest answer ${outcome.slowestMs} ms; first success ` +
        `${recovered - backAt} ms after it was back`,
    ],
  ];
}

async function revokedToken(url) {
  const { token } = await signUp(url);
  const headers = { authorization: `Bearer ${token}` };
  await fetch(`${url}/v1/auth/logout-everywhere`, { method: 'POST', headers });
  return token;
}

async function load(url, revoked, everyMs, whileWhat) {
  const outcome = { acknowledged: [], refused: 0, other: {}, wrong: 0, slowestMs: 0 };
  let isOver = false;
  const client = async () => {
    while (!isOver) {
      const startedAt = Date.now();
      await Promise.all([signUpOnce(url, outcome), tryRevoked(url, revoked, outcome)]);
      const tookMs = Date.now() - startedAt;
      outcome.slowestMs = Math.max(outcome.slowestMs, tookMs);
      await sleep(Math.max(everyMs - tookMs, 0));
    }
  };
  const clients = Array.from({ length: CLIENTS }, client);
  await whileWhat();
  isOver = true;
  await Promise.all(clients);
  return outcome;
}

async function signUpOnce(url, outcome) {
  const issued = await post(`${url}/v1/auth/challenge`, {});
  const { challenge } = issued.body;
  const { response, body } = issued.response.ok
    ? await post(`${url}/v1/auth`, signedLogin(makeDeviceKey(), Buffer.from(challenge, 'base64')))
    : issued;
  if (response.status === 200) {
    outcome.acknowledged.push({ id: body.accountId, at: Date.now() });
  } else if (response.status === 503 && response.headers.has('retry-after')) {
    outcome.refused += 1;
  } else {
    outcome.other[response.status] = (outcome.other[response.status] ?? 0) + 1;
  }
}

async function post(address, sent) {
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(sent),
  });
  return { response, body: await response.json() };
}

async function tryRevoked(url, token, outcome) {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/v1/push-tokens`, { headers });
  await response.arrayBuffer();
  outcome.wrong += response.ok ? 1 : 0;
}

/** The first process of the cluster and its children, the backends. */
async function serverProcesses({ databaseUrl }) {
  const [{ pid }] = await query(
    databaseUrl,
    `SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'`,
  );
  const first = parentOf(pid);
  const children = readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && parentOf(name) === first,
  );
  return [first, ...children.map(Number)];
}

function parentOf(pid) {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
  } catch {
    return null;
  }
}

function signal(pids, name) {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch (error) {
      // A backend may have ended meanwhile.
      if (error.code !== 'ESRCH') {
        throw error;
      }
    }
  }
}

async function lostOf({ databaseUrl }, acknowledged) {
  const ids = acknowledged.map(({ id }) => id);
  const [{ count }] = await query(
    databaseUrl,
    'SELECT count(*) AS count FROM account WHERE id = ANY($1::uuid[])',
    [ids],
  );
  return new Set(ids).size - Number(count);
}
