import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CPU_OF, freePort, startNode } from './processes.mjs';

const READY_WITHIN_MS = 30_000;
const MIGRATED_WITHIN_MS = 30_000;
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
  const started = startNode({
    file: join(context.dist, 'bin/gatehouse.js'),
    args: ['migrate'],
    env: gatehouseEnvironment(context),
    directory: context.directory,
  });
  const ended = new Promise((resolve) => started.child.once('exit', resolve));
  const code = await Promise.race([ended, sleep(MIGRATED_WITHIN_MS, 'too late', { ref: false })]);
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
  const started = startNode({
    file: join(context.dist, 'bin/server.js'),
    nodeArgs,
    env: Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined)),
    cpu: isPinned ? CPU_OF.server : null,
    directory: context.directory,
  });
  const url = `http://127.0.0.1:${port}`;
  await untilAnswering(url, started, until === 'ready' ? [200] : [200, 503]);
  return { ...started, url, port, readyAfterMs: performance.now() - spawnedAt };
}

async function untilAnswering(url, started, statuses) {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (Date.now() < deadline) {
    if (started.child.exitCode !== null) {
      break;
    }
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
