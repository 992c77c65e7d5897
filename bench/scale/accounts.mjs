import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { bearer, signUpAll } from '../client.mjs';
import { load } from '../compare-http.mjs';
import { fillAccounts, OWN, sumOf, timeStatements, withTimedCluster } from '../database.mjs';
import { PeopleProvider, runSql } from '../fixtures.mjs';
import { administration, gatehouseEnvironment, migrate, startGatehouse } from '../gatehouse.mjs';
import { cpuTimeMs } from '../processes.mjs';
import { measureSizes, sizesUpTo } from '../report.mjs';
import { listsOf, loginsAt, REPEATABLE } from '../rows/http.mjs';

/** The same work among more and more accounts, and re-checks of them. */
export const groups = {
  accounts: (context) => withTimedCluster(context, accounts),
  rechecks,
};

const SIZES = [1000, 10_000, 100_000, 1_000_000];
const KEYED = 16;
const SEARCHES = 30;
const WARM_UP_SECONDS = 3;
/** Sequential requests measure the time in PostgreSQL: parallel statements also wait for a CPU. */
const TIMED_REQUESTS = 300;
/** Fewer than the requests that a provider may be sent at once after a pause. */
const DUE = 60;
const DRAINS = 3;
/** Until the requests that a provider may be sent at once are there again. */
const REST_MS = 2000;
const IDLE_MS = 7000;

const FIGURES = [
  ['login with a known key: CPU a request', 'µs'],
  ['login: time in PostgreSQL a request', 'µs'],
  ['login: requests', '/s'],
  ['`GET /v1/push-tokens`: CPU a request', 'µs'],
  ['token list: time in PostgreSQL a request', 'µs'],
  ['token list: requests', '/s'],
  ['administration, search by e-mail address: time in PostgreSQL a request', 'µs'],
  ['offboarding tick with nothing due: time in PostgreSQL', 'µs'],
  ['scrape of the metrics, every 30 s at most: time in PostgreSQL', 'µs'],
  [`re-check, ${DUE} due: CPU each`, 'µs'],
  ['re-check: time in PostgreSQL each', 'µs'],
  ['re-checks', '/s'],
];

async function accounts(context) {
  await migrate(context);
  const signedUpAt = await startGatehouse(context);
  const { requests: logins } = await loginsAt(signedUpAt.url);
  // An account keeps its latest 100 sessions: those that list log in once only.
  const lists = listsOf(await signUpAll(signedUpAt.url, KEYED));
  await signedUpAt.stop();
  // One for all sizes: an identity belongs to the issuer that answered first.
  const provider = await PeopleProvider.start();
  const sizes = sizesUpTo(context.most, SIZES);
  let filled = 0;
  const measured = await measureSizes(sizes, 'accounts', async (size) => {
    await fillAccounts(context.databaseUrl, { from: filled + 1, to: size });
    filled = size;
    return [
      ...(await requestsAt(context, logins, lists, size)),
      ...(await offboardingAt(context, provider)),
    ];
  });
  await provider.close();
  return [{ of: 'accounts', sizes, figures: FIGURES, measured }];
}

async function requestsAt(context, logins, lists, size) {
  const { env, origin, token } = await administration(context, 'read');
  const gatehouse = await startGatehouse(context, { env: { ...env, ...REPEATABLE } });
  const searches = Array.from({ length: SEARCHES }, (_, index) => {
    const number = Math.floor((size * (index + 0.5)) / SEARCHES);
    const path = `/admin/v1/accounts?query=person${number}@acme.example`;
    return { path, headers: bearer(token) };
  });
  const figures = [
    ...(await figuresOf(context, gatehouse, logins)),
    ...(await figuresOf(context, gatehouse, lists)),
    await sqlOf(context, origin, searches, SEARCHES),
  ];
  await gatehouse.stop();
  return figures;
}

async function figuresOf(context, server, requests) {
  await load(context, server, requests, WARM_UP_SECONDS);
  const { cpuMicrosPerRequest, perSecond } = await load(context, server, requests, context.seconds);
  return [
    cpuMicrosPerRequest,
    await sqlOf(context, server.url, requests, TIMED_REQUESTS),
    perSecond,
  ];
}

/** @returns {Promise<number>} microseconds in PostgreSQL a request, of requests one after another */
async function sqlOf({ databaseUrl }, url, requests, count) {
  const { ms } = await timeStatements(databaseUrl, async () => {
    for (let index = 0; index < count; index += 1) {
      const { path, ...options } = requests[index % requests.length];
      const response = await fetch(`${url}${path}`, options);
      await response.arrayBuffer();
    }
  });
  return (ms * 1000) / count;
}

async function offboardingAt(context, provider) {
  const { databaseUrl } = context;
  const scraper = randomBytes(32).toString('hex');
  const env = { ...recheckEnvironment(provider, 10), METRICS_TOKEN: scraper };
  const gatehouse = await startGatehouse(context, { env });
  // A search for due identities when none is due.
  const idle = await timeStatements(databaseUrl, () => sleep(IDLE_MS));
  const ticks = idle.statements.filter(({ text }) => text.startsWith('WITH "due"'));
  const scrape = await timeStatements(databaseUrl, () => scrapeMetrics(gatehouse, scraper));
  await drain(context, gatehouse, provider, DUE);
  const rounds = [];
  while (rounds.length < DRAINS) {
    await sleep(REST_MS);
    rounds.push(await timeStatements(databaseUrl, () => drain(context, gatehouse, provider, DUE)));
  }
  await gatehouse.stop();
  const mean = (figure) => rounds.reduce((sum, round) => sum + figure(round), 0) / DRAINS;
  return [
    (sumOf(ticks, 'ms') * 1000) / sumOf(ticks, 'calls'),
    scrape.ms * 1000,
    mean(({ result }) => (result.cpuMs * 1000) / DUE),
    mean(({ ms }) => (ms * 1000) / DUE),
    mean(({ result }) => result.perSecond),
  ];
}

async function scrapeMetrics({ url }, token) {
  const response = await fetch(`${url}/metrics`, { headers: bearer(token) });
  if (!/^gatehouse_eligibility_oldest_check_seconds /m.test(await response.text())) {
    throw new Error(`The metrics have no re-checks (${response.status}).`);
  }
}

const AT_A_TIME = [2, 10, 50];
const RECHECKED_ACCOUNTS = 1000;
const PROVIDER_MS = 100;
const WARM_UP = 40;
/** So many that the second half is beyond what may be sent at once after a pause. */
const RECHECKS = 400;

/** Re-checks a second of a whole server against one OpenID provider. */
async function rechecks(context) {
  await fillAccounts(context.databaseUrl, { to: RECHECKED_ACCOUNTS });
  const provider = await PeopleProvider.start();
  provider.delayMs = PROVIDER_MS;
  const measured = await measureSizes(AT_A_TIME, 're-checks at a time', async (count) => {
    const env = recheckEnvironment(provider, count);
    const gatehouse = await startGatehouse(context, { env });
    await drain(context, gatehouse, provider, WARM_UP);
    const { perSecond, cpuMs } = await drain(context, gatehouse, provider, RECHECKS);
    await gatehouse.stop();
    return [perSecond, (cpuMs * 1000) / RECHECKS];
  });
  await provider.close();
  return [
    {
      of: 're-checks at a time (`AUTH_OFFBOARDING_CONCURRENCY`)',
      sizes: AT_A_TIME,
      figures: [
        ['re-checks', '/s'],
        ['CPU a re-check', 'µs'],
      ],
      measured,
      note: `The provider takes ${PROVIDER_MS} ms for a refresh; ${RECHECKS} identities are due, and the second half is timed. AUTH_OFFBOARDING_CHECKS_PER_SECOND is off: what remains is the budget of requests to one upstream.`,
    },
  ];
}

/** Variables of a Gatehouse that re-checks at that provider. */
function recheckEnvironment(provider, concurrency) {
  return {
    SERVICE_PUBLIC_URL: 'https://gate.example',
    AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify([provider.entry]),
    AUTH_OFFBOARDING_ENABLED: 'true',
    AUTH_OFFBOARDING_CONCURRENCY: `${concurrency}`,
    AUTH_OFFBOARDING_CHECKS_PER_SECOND: '0',
  };
}

const DRAINED_WITHIN_MS = 60_000;
const POLL_MS = 100;
/** The provider of the accounts that fillAccounts() makes. */
const PROVIDER = 'people';

/**
 * Makes identities due, each with a refresh token, and waits until the server has re-checked them.
 *
 * @returns {Promise<{perSecond: number, cpuMs: number}>} `perSecond` of the second half, `cpuMs` of the
 *   server for all
 */
async function drain(context, gatehouse, provider, count) {
  const { databaseUrl } = context;
  const chosen = await runSql(
    databaseUrl,
    `SELECT id, account_id AS "accountId", subject FROM ${OWN} identity
     WHERE provider = $1 ORDER BY eligibility_next_check_at LIMIT $2`,
    [PROVIDER, count],
  );
  const seal = await sealOf(context);
  const sealed = chosen.map(({ accountId, subject }) =>
    seal(accountId, PROVIDER, provider.add(subject)),
  );
  const cpuBefore = cpuTimeMs(gatehouse.pid);
  const ids = chosen.map(({ id }) => id);
  // After the first re-check it has another one.
  const [{ since }] = await runSql(
    databaseUrl,
    `WITH due AS (
       UPDATE ${OWN} identity SET eligibility_next_check_at = now(),
         credentials = COALESCE(identity.credentials, given.credentials)
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
    const [{ checked, seconds }] = await runSql(
      url,
      `SELECT count(*)::int AS checked, extract(epoch FROM max(eligibility_checked_at)
         - percentile_disc(0.5) WITHIN GROUP (ORDER BY eligibility_checked_at))::float8 AS seconds
       FROM ${OWN} identity WHERE id = ANY($1::uuid[]) AND eligibility_checked_at >= $2
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
  const read = (file) => import(pathToFileURL(join(context.dist, file)).href);
  await import('reflect-metadata');
  const sealing = 'server/storage/sealing';
  const { IdentityCredentialsService } = await read(`${sealing}/identity-credentials.service.js`);
  const { MasterKeys } = await read(`${sealing}/master-keys.js`);
  const { SealedBoxService } = await read(`${sealing}/sealed-box.service.js`);
  const { Random } = await read('common/runtime/random.js');
  const { SERVICE_MASTER_SECRET: secret } = gatehouseEnvironment(context);
  const box = new SealedBoxService(new MasterKeys(secret, []), new Random());
  const credentials = new IdentityCredentialsService(box);
  return credentials.seal.bind(credentials);
}
