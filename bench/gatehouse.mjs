import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { entryOf, freePort } from './fixtures.mjs';
import { CPU_OF, startNode } from './processes.mjs';

const READY_WITHIN_MS = 120_000;
/** Connections to PostgreSQL: Gatehouse's default, and what the limits get. */
export const POOL_SIZE = 10;
const masterSecret = randomBytes(32).toString('hex');

/** The measured configuration: the defaults, with rate limits out of reach. */
export function gatehouseEnvironment(context) {
  return {
    NODE_ENV: 'production',
    DATABASE_URL: context.databaseUrl,
    SERVICE_DATABASE_POOL_SIZE: `${POOL_SIZE}`,
    HOST: '127.0.0.1',
    SERVICE_MASTER_SECRET: masterSecret,
    SERVICE_LOG_LEVEL: 'info',
    SERVICE_RATE_LIMIT_PER_IP_PER_MINUTE: '0',
    SERVICE_RATE_LIMIT_PER_ACCOUNT_PER_MINUTE: '0',
    AUTH_LOGIN_RATE_LIMIT_PER_IP_PER_MINUTE: '0',
    SERVICE_UPDATES_HANDSHAKE_RATE_LIMIT_PER_IP_PER_MINUTE: '0',
  };
}

/** Brings the bench's database to the schema of the build. */
export async function migrate(context) {
  const file = join(context.dist, 'bin/gatehouse.js');
  const started = startNode(context, {
    file,
    args: ['migrate'],
    env: gatehouseEnvironment(context),
  });
  const [code] = await once(started.child, 'exit');
  if (code !== 0) {
    throw new Error(`gatehouse migrate failed (${code}):\n${started.log()}`);
  }
}

/**
 * A running, ready Gatehouse.
 *
 * @param {{env?: Record<string, string | undefined>, nodeArgs?: string[], isPinned?: boolean,
 *   port?: number, until?: 'ready' | 'listening'}} how `env` is laid over the usual one; undefined takes
 *   a variable away. Without its database a server listens, and is not ready
 * @returns `readyAfterMs` counts from the spawn to the first 200 of /readyz
 */
export async function startGatehouse(context, how = {}) {
  const { env = {}, nodeArgs = [], isPinned = true, until = 'ready' } = how;
  const port = how.port ?? (await freePort());
  const wanted = { ...gatehouseEnvironment(context), PORT: `${port}`, ...env };
  const spawnedAt = performance.now();
  const started = startNode(context, {
    file: join(context.dist, 'bin/server.js'),
    nodeArgs,
    env: Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined)),
    cpu: isPinned ? CPU_OF.server : null,
  });
  const url = `http://127.0.0.1:${port}`;
  await untilAnswering(url, started, until === 'ready' ? [200] : [200, 503]);
  return { ...started, url, port, readyAfterMs: performance.now() - spawnedAt };
}

async function untilAnswering(url, started, statuses) {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (Date.now() < deadline && started.child.exitCode === null) {
    const status = await fetch(`${url}/readyz`).then(
      (response) => response.arrayBuffer().then(() => response.status),
      () => 0,
    );
    if (statuses.includes(status)) {
      return;
    }
    await sleep(5);
  }
  throw new Error(`Gatehouse did not become ready:\n${started.log()}`);
}

/**
 * Writes the configuration of a Gatehouse with an administration port.
 *
 * @param {'read' | 'operate'} role of the one token
 * @returns {Promise<{env: Record<string, string>, origin: string, token: string}>}
 */
export async function administration({ directory }, role) {
  const token = randomBytes(32).toString('base64url');
  const file = join(directory, `admin-tokens-${role}.json`);
  await writeFile(file, JSON.stringify([entryOf('bench', token, role)]));
  const port = await freePort();
  return {
    env: {
      ADMIN_PORT: `${port}`,
      ADMIN_TOKENS_FILE: file,
      ADMIN_RATE_LIMIT_PER_MINUTE: '1000000',
    },
    origin: `http://127.0.0.1:${port}`,
    token,
  };
}
