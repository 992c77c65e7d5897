import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { administration } from './administration.mjs';
import { startGatehouse } from './gatehouse.mjs';
import { freePort } from './processes.mjs';

export const RESOURCE = 'https://relay.example';

const MAX_REFUSALS = 10;

/**
 * Starts Gatehouse with one backend and an administration port.
 *
 * @returns the server, the options of the backend's guard, and `disable` and `endSession` of an operator
 */
export async function startWithBackend(context, nodeArgs = []) {
  const secret = randomBytes(24).toString('base64url');
  const secretFile = join(context.directory, 'backend-secret');
  writeFileSync(secretFile, `${secret}\n`);
  const { env, origin, token } = await administration(context, 'operate');
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const entry = { id: 'relay', resource: RESOURCE, client: { secretFile }, maxTokenSeconds: 900 };
  const gatehouse = await startGatehouse(context, {
    ...{ port, nodeArgs },
    env: {
      ...env,
      SERVICE_PUBLIC_URL: issuer,
      AUTH_RESOURCE_SERVERS_CONFIG_JSON: JSON.stringify([entry]),
    },
  });
  const act = (method, path) => actAs(token, method, `${origin}/admin/v1/accounts/${path}`);
  return {
    gatehouse,
    guardOptions: { issuer, resource: RESOURCE, client: { id: 'relay', secret } },
    disable: (accountId) => act('POST', `${accountId}/disable`),
    endSession: (accountId, id) => act('DELETE', `${accountId}/sessions/${id}`),
  };
}

/** The package of the guard, as `npm run build` makes it. @param {'index' | 'testing'} entry */
export function importGuard({ dist }, entry) {
  return import(pathToFileURL(join(dist, `packages/guard/guard/${entry}.js`)).href);
}

/** An act that a busy server does not take is sent again. @returns how often it was not taken */
async function actAs(token, method, url, refusals = 0) {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ reason: 'bench' }),
  });
  const text = await response.text();
  if (response.status === 503 && refusals < MAX_REFUSALS) {
    await sleep(Number(response.headers.get('retry-after')) * 1000);
    return actAs(token, method, url, refusals + 1);
  }
  if (!response.ok) {
    throw new Error(`${method} ${url} answered ${response.status}: ${text}`);
  }
  return refusals;
}

/** @param {number[]} values @param {number} share for example 0.99 */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
