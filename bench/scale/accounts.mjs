import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { administration } from '../administration.mjs';
import { bearer, signedLogin, signUp } from '../client.mjs';
import { load } from '../compare-http.mjs';
import { fillAccounts } from '../fill-accounts.mjs';
import { migrate, startGatehouse } from '../gatehouse.mjs';
import { query } from '../postgres.mjs';
import { beginTiming, startTimedCluster, timeStatements } from '../statement-times.mjs';
import { drain, recheckEnvironment, startProvider } from './due-identities.mjs';
import { rowsOf, sizesUpTo } from './table.mjs';

const SIZES = [1000, 10_000, 100_000, 1_000_000];
/** Accounts with a device key, which log in; the others are rows only. */
const KEYED = 16;
const CHALLENGES_PER_ACCOUNT = 8;
const SEARCHES = 128;
const WARM_UP_SECONDS = 3;
/** Sequential requests measure the time in PostgreSQL: parallel statements also wait for a CPU. */
const TIMED_REQUESTS = 300;
/** Fewer than the requests that a provider may be sent at once after a pause. */
const DUE = 60;
const DRAINS = 3;
/** Until the requests that a provider may be sent at once are there again. */
const REST_MS = 2000;
const CONCURRENCY = 10;
const IDLE_MS = 7000;

const FIGURES = [
  ['login with a known key: CPU a request', 'µs'],
  ['login: time in PostgreSQL a request', 'µs'],
  ['login: requests', '/s'],
  ['`GET /v1/push-tokens`: CPU a request', 'µs'],
  ['token list: time in PostgreSQL a request', 'µs'],
  ['token list: requests', '/s'],
  ['administration, search by e-mail address: CPU a request', 'µs'],
  ['search: time in PostgreSQL a request', 'µs'],
  ['search: requests', '/s'],
  ['offboarding tick with nothing due: time in PostgreSQL', 'µs'],
  ['scrape of the metrics, every 30 s at most: time in PostgreSQL', 'µs'],
  [`re-check, ${DUE} due: CPU each`, 'µs'],
  ['re-check: time in PostgreSQL each', 'µs'],
  ['re-checks', '/s'],
];

/** The same work among more and more accounts. */
export const group = {
  name: 'accounts',
  run: async (context) => {
    const cluster = await startTimedCluster(context.directory, 'accounts');
    try {
      return [await measure({ ...context, databaseUrl: cluster.url })];
    } finally {
      await cluster.stop();
    }
  },
};

async function measure(context) {
  await migrate(context);
  await beginTiming(context.databaseUrl);
  // An account keeps its latest 100 sessions: those that list log in once only.
  const keyed = { login: await signUpAll(context), list: await signUpAll(context) };
  // One for all sizes: an identity belongs to the issuer that answered first.
  const provider = await startProvider(context, { delayMs: 0 });
  const sizes = sizesUpTo(context.most, SIZES);
  const measured = [];
  let filled = 0;
  for (const size of sizes) {
    await fillAccounts(context.databaseUrl, { from: filled + 1, to: size });
    filled = size;
    measured.push([
      ...(await requestsAt(context, keyed, size)),
      ...(await offboardingAt(context, provider)),
    ]);
  }
  await provider.stop();
  return { name: 'accounts', of: 'accounts', sizes, rows: rowsOf(FIGURES, measured) };
}

async function signUpAll(context) {
  const gatehouse = await startGatehouse(context);
  const accounts = await Promise.all(Array.from({ length: KEYED }, () => signUp(gatehouse.url)));
  await gatehouse.stop();
  return accounts;
}

async function requestsAt(context, keyed, size) {
  const { env, origin, token } = await administration(context, 'read');
  // The load sends the same logins again and again.
  const gatehouse = await startGatehouse(context, {
    env: { ...env, AUTH_REQUIRE_SERVER_CHALLENGE: 'false' },
  });
  const figures = [
    ...(await figuresOf(context, gatehouse, loginsOf(keyed.login))),
    ...(await figuresOf(context, gatehouse, tokenListsOf(keyed.list))),
    ...(await figuresOf(context, { ...gatehouse, url: origin }, searchesOf(token, size))),
  ];
  await gatehouse.stop();
  return figures;
}

async function figuresOf(context, server, requests) {
  await load(context, server, requests, WARM_UP_SECONDS);
  const { cpuMicrosPerRequest, perSecond } = await load(context, server, requests, context.seconds);
  const { ms } = await timeStatements(context.databaseUrl, async () => {
    for (let index = 0; index < TIMED_REQUESTS; index += 1) {
      const { path, ...request } = requests[index % requests.length];
      const response = await fetch(`${server.url}${path}`, request);
      await response.arrayBuffer();
    }
  });
  return [cpuMicrosPerRequest, (ms * 1000) / TIMED_REQUESTS, perSecond];
}

function loginsOf(keyed) {
  return Array.from({ length: CHALLENGES_PER_ACCOUNT }, () =>
    keyed.map(({ key }) => ({
      method: 'POST',
      path: '/v1/auth',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(signedLogin(key)),
    })),
  ).flat();
}

function tokenListsOf(keyed) {
  return keyed.map(({ token }) => ({ path: '/v1/push-tokens', headers: bearer(token) }));
}

function searchesOf(token, size) {
  return Array.from({ length: SEARCHES }, (_, index) => {
    const number = Math.floor((size * (index + 0.5)) / SEARCHES);
    return {
      path: `/admin/v1/accounts?query=person${number}@acme.example`,
      headers: bearer(token),
    };
  });
}

async function offboardingAt(context, provider) {
  const env = recheckEnvironment(provider, { concurrency: CONCURRENCY });
  const scraper = randomBytes(32).toString('hex');
  const gatehouse = await startGatehouse(context, { env: { ...env, METRICS_TOKEN: scraper } });
  const tickMicros = await idleTick(context.databaseUrl);
  const scrape = await timeStatements(context.databaseUrl, () => scrapeMetrics(gatehouse, scraper));
  await drain(context, gatehouse, DUE);
  const rounds = [];
  for (let round = 0; round < DRAINS; round += 1) {
    await sleep(REST_MS);
    rounds.push(await timeStatements(context.databaseUrl, () => drain(context, gatehouse, DUE)));
  }
  await gatehouse.stop();
  const mean = (figure) => rounds.reduce((sum, round) => sum + figure(round), 0) / DRAINS;
  return [
    tickMicros,
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

/** Measures a search for due identities when none is due. */
async function idleTick(url) {
  await query(url, 'SELECT pg_stat_statements_reset()');
  await sleep(IDLE_MS);
  const [{ micros }] = await query(
    url,
    `SELECT 1000 * (sum(total_plan_time + total_exec_time) / sum(calls))::float8 AS micros
     FROM pg_stat_statements WHERE query LIKE 'WITH "due"%'`,
  );
  return micros;
}
