import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { backends, call, freePort, GuardedRelay } from './fixtures.mjs';
import { administration, startGatehouse } from './gatehouse.mjs';

export const BACKEND = 'relay';

const MAX_REFUSALS = 10;

/** A backend that accepts tokens: variables of the server, and the options of the backend's guard. */
export function describeBackend(entry = { id: BACKEND, maxTokenSeconds: 900 }) {
  const { id } = entry;
  const described = backends([entry]);
  const [{ resource }] = JSON.parse(described.env.AUTH_RESOURCE_SERVERS_CONFIG_JSON);
  const secret = described.secretOf(id);
  return {
    env: { ...described.env, SERVICE_RATE_LIMIT_PER_RESOURCE_SERVER_PER_MINUTE: '0' },
    secret,
    guardOptions: (issuer) => ({ issuer, resource, client: { id, secret } }),
  };
}

/**
 * Starts Gatehouse with one backend and an administration port.
 *
 * @param {{nodeArgs?: string[], entry?: object, env?: Record<string, string>}} how the entry is that of the backend
 * @returns the server, the options of the backend's guard, and `disable` and `endSession` of an operator
 */
export async function startWithBackend(context, { nodeArgs = [], entry, env: more } = {}) {
  const backend = describeBackend(entry);
  const { env, origin, token } = await administration(context, 'operate');
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const gatehouse = await startGatehouse(context, {
    port,
    nodeArgs,
    env: { ...env, ...backend.env, ...more, SERVICE_PUBLIC_URL: issuer },
  });
  const act = (method, path) => actAs(token, method, origin, `/admin/v1/accounts/${path}`);
  return {
    gatehouse,
    guardOptions: backend.guardOptions(issuer),
    disable: (accountId) => act('POST', `${accountId}/disable`),
    endSession: (accountId, id) => act('DELETE', `${accountId}/sessions/${id}`),
  };
}

/** An act that a busy server does not take is sent again. @returns how often it was not taken */
async function actAs(token, method, url, path, refusals = 0) {
  const answer = await call({ url }, method, path, { token, body: { reason: 'bench' } });
  if (answer.status === 503 && refusals < MAX_REFUSALS) {
    await sleep(Number(answer.headers['retry-after']) * 1000);
    return actAs(token, method, url, path, refusals + 1);
  }
  if (answer.status >= 300) {
    throw new Error(`${method} ${path} was answered ${answer.status}: ${answer.text}`);
  }
  return refusals;
}

/**
 * Times how long people who leave keep access: an operator disables one after the other.
 *
 * @param {{closed: Promise<unknown>, isOpen: () => boolean}[][]} connections of each person
 * @returns {Promise<number[]>} ms until the last connection of each was closed
 */
export async function timeLeavers(people, connections, disable) {
  const times = [];
  for (const [index, { accountId }] of people.entries()) {
    const begun = performance.now();
    await Promise.all([disable(accountId), ...connections[index].map(({ closed }) => closed)]);
    times.push(performance.now() - begun);
    const others = connections.slice(index + 1).flat();
    const wrong = others.filter(({ isOpen }) => !isOpen()).length;
    if (wrong > 0) {
      throw new Error(`${wrong} connections of other people were closed.`);
    }
  }
  return times;
}

/** The package of the guard, as `npm run build` makes it. @param {'index' | 'testing'} entry */
export function importGuard({ dist }, entry) {
  return import(pathToFileURL(join(dist, `npm/guard/packages/guard/${entry}.js`)).href);
}

/** A relay behind the guard, with WebSockets. */
export async function startRelay(guardOptions) {
  const relay = await GuardedRelay.start(guardOptions);
  process.once('exit', () => relay.kill('SIGKILL'));
  return relay;
}
