import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { WebSocket } from 'ws';
import { administration } from './administration.mjs';
import { startGatehouse } from './gatehouse.mjs';
import { freePort, startNode } from './processes.mjs';

export const RESOURCE = 'https://relay.example';

const MAX_REFUSALS = 10;
const RELAY = join(import.meta.dirname, '../test/fixtures/programs/guard-relay.mjs');

/**
 * Starts Gatehouse with one backend and an administration port.
 *
 * @returns the server, the options of the backend's guard, and `disable` and `endSession` of an operator
 */
export async function startWithBackend(context, nodeArgs = []) {
  const backend = describeBackend(context);
  const { env, origin, token } = await administration(context, 'operate');
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const gatehouse = await startGatehouse(context, {
    ...{ port, nodeArgs },
    env: {
      ...env,
      SERVICE_PUBLIC_URL: issuer,
      ...backend.env,
    },
  });
  const act = (method, path) => actAs(token, method, `${origin}/admin/v1/accounts/${path}`);
  return {
    gatehouse,
    guardOptions: backend.guardOptions(issuer),
    disable: (accountId) => act('POST', `${accountId}/disable`),
    endSession: (accountId, id) => act('DELETE', `${accountId}/sessions/${id}`),
  };
}

/** A backend that accepts tokens: variables of the server, and the options of the backend's guard. */
export function describeBackend({ directory }) {
  const secret = randomBytes(24).toString('base64url');
  const secretFile = join(directory, 'backend-secret');
  writeFileSync(secretFile, `${secret}\n`);
  const entry = { id: 'relay', resource: RESOURCE, client: { secretFile }, maxTokenSeconds: 900 };
  return {
    env: { AUTH_RESOURCE_SERVERS_CONFIG_JSON: JSON.stringify([entry]) },
    guardOptions: (issuer) => ({ issuer, resource: RESOURCE, client: { id: 'relay', secret } }),
  };
}

/** The package of the guard, as `npm run build` makes it. @param {'index' | 'testing'} entry */
export function importGuard({ dist }, entry) {
  return import(pathToFileURL(join(dist, `npm/guard/packages/guard/${entry}.js`)).href);
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

/** A relay behind the guard, with WebSockets. */
export async function startRelay(context, guardOptions) {
  const started = startNode({
    ...{ file: RELAY, args: [JSON.stringify(guardOptions)], directory: context.directory },
  });
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const port = /listening on (\d+)/.exec(started.log())?.[1];
    if (port !== undefined) {
      return { ...started, url: `ws://127.0.0.1:${port}` };
    }
    await sleep(100);
  }
  throw new Error(`The relay did not start:\n${started.log()}`);
}

/** @returns a token for the relay */
export async function exchange(url, session) {
  const response = await fetch(`${url}/v1/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: session,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      resource: RESOURCE,
    }),
  });
  return (await response.json()).access_token;
}

export async function openRelaySocket(url, token) {
  const socket = new WebSocket(url, [`bearer.${token}`, 'relay.v1']);
  await once(socket, 'open');
  return socket;
}
