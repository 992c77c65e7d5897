import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { gatehouseEnvironment } from '../gatehouse.mjs';
import { query } from '../postgres.mjs';
import { CPU_OF, cpuTimeMs, messageFrom, startNode } from '../processes.mjs';

const DRAINED_WITHIN_MS = 60_000;
const POLL_MS = 100;
/** The provider of the accounts that fillAccounts() makes. */
const PROVIDER = 'people';
const CLIENT_ID = 'bench';

/** An OpenID provider that takes `delayMs` for a refresh. */
export async function startProvider(context, { delayMs }) {
  const provider = startNode({
    file: join(import.meta.dirname, '../load/openid-provider.mjs'),
    args: [JSON.stringify({ delayMs, clientId: CLIENT_ID })],
    cpu: CPU_OF.load,
    directory: context.directory,
  });
  const { port } = await messageFrom(provider);
  return { ...provider, url: `http://127.0.0.1:${port}` };
}

/** Variables of a Gatehouse that re-checks at that provider. */
export function recheckEnvironment(provider, { concurrency }) {
  const entry = {
    id: PROVIDER,
    type: 'oidc',
    issuer: provider.url,
    clientId: CLIENT_ID,
    clientSecret: 'a-client-secret-of-the-bench',
  };
  return {
    SERVICE_PUBLIC_URL: 'https://gate.example',
    AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify([entry]),
    AUTH_OFFBOARDING_ENABLED: 'true',
    AUTH_OFFBOARDING_CONCURRENCY: `${concurrency}`,
    AUTH_OFFBOARDING_CHECKS_PER_SECOND: '0',
  };
}

/**
 * Makes identities due, each with a refresh token, and waits until the server has re-checked them.
 *
 * @returns {Promise<{perSecond: number, cpuMs: number}>} `perSecond` of the second half, `cpuMs` of the
 *   server for all
 */
export async function drain(context, gatehouse, count) {
  const { databaseUrl } = context;
  const chosen = await query(
    databaseUrl,
    `SELECT id, account_id AS "accountId", subject FROM identity
     WHERE provider = $1 ORDER BY eligibility_next_check_at LIMIT $2`,
    [PROVIDER, count],
  );
  const seal = await sealOf(context);
  const sealed = chosen.map(({ accountId, subject }) => seal(accountId, PROVIDER, subject));
  const cpuBefore = cpuTimeMs(gatehouse.pid);
  const ids = chosen.map(({ id }) => id);
  const [{ since }] = await query(
    databaseUrl,
    `WITH due AS (
       UPDATE identity SET eligibility_next_check_at = now(), credentials = given.credentials
       FROM unnest($1::uuid[], $2::bytea[]) AS given (id, credentials)
       WHERE identity.id = given.id)
     SELECT now() AS since`,
    [ids, sealed],
  );
  const perSecond = await untilChecked(databaseUrl, gatehouse, ids, since);
  return { perSecond, cpuMs: cpuTimeMs(gatehouse.pid) - cpuBefore };
}

async function untilChecked(url, gatehouse, ids, since) {
  const deadline = Date.now() + DRAINED_WITHIN_MS;
  for (;;) {
    const [{ checked, seconds }] = await query(
      url,
      `SELECT count(*)::int AS checked, extract(epoch FROM max(eligibility_checked_at)
         - percentile_disc(0.5) WITHIN GROUP (ORDER BY eligibility_checked_at))::float8 AS seconds
       FROM identity WHERE id = ANY($1::uuid[]) AND eligibility_checked_at >= $2
         AND lease_until IS NULL`,
      [ids, since],
    );
    if (checked === ids.length) {
      return checked / 2 / seconds;
    }
    if (Date.now() > deadline) {
      throw new Error(`Only ${checked} of ${ids.length} were re-checked:\n${gatehouse.log()}`);
    }
    await sleep(POLL_MS);
  }
}

/** Seals as the server does, with its own code: a re-check reads the refresh token from the database. */
async function sealOf(context) {
  const load = (file) => import(pathToFileURL(join(context.dist, file)).href);
  await import('reflect-metadata');
  const { IdentityCredentialsService } = await load(
    'storage/sealing/identity-credentials.service.js',
  );
  const { MasterKeys } = await load('storage/sealing/master-keys.js');
  const { Random } = await load('common/runtime/random.js');
  const { SealedBoxService } = await load('storage/sealing/sealed-box.service.js');
  const { SERVICE_MASTER_SECRET: secret } = gatehouseEnvironment(context);
  const box = new SealedBoxService(new MasterKeys(secret, []), new Random());
  const credentials = new IdentityCredentialsService(box);
  return credentials.seal.bind(credentials);
}
