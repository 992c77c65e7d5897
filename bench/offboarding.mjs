import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { migrate } from './gatehouse.mjs';
import { openDatabase, query } from './postgres.mjs';
import { stopAll } from './processes.mjs';

const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '100000' },
    concurrency: { type: 'string', default: '10' },
    dist: { type: 'string', default: 'dist' },
    help: { type: 'boolean', default: false },
  },
});
const COUNT = Number(options.count);
const CONCURRENCY = Number(options.concurrency);
const UPSTREAM_MS = 20;
const STEP = 1000;
const PROVIDER = 'people';

if (options.help) {
  console.log(`node --expose-gc bench/offboarding.mjs [--count 100000] [--concurrency 10] [--dist dist]
Drains identities that are all due through the server's own job, queue, re-check and repositories,
against a provider that takes ${UPSTREAM_MS} ms.`);
} else {
  await run();
}

async function run() {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-bench-'));
  const database = await openDatabase(directory);
  try {
    await migrate({ directory, databaseUrl: database.url, dist: resolve(options.dist) });
    await fill(database.url);
    print(await drain(database.url));
  } finally {
    await stopAll();
    await database.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** As a server finds them that was down for an interval. */
async function fill(url) {
  await query(
    url,
    `INSERT INTO account (id, created_at, key_mode, encryption_mode)
     SELECT gen_random_uuid(), now(), 'keyless', 'plain' FROM generate_series(1, $1::int)`,
    [COUNT],
  );
  await query(
    url,
    `INSERT INTO identity (id, account_id, provider, subject, connected_at, eligibility_status,
       eligibility_checked_at, eligibility_next_check_at)
     SELECT gen_random_uuid(), id, $1, id::text, now(), 'eligible', now() - interval '1 day',
       now() - random() * interval '1 hour' FROM account`,
    [PROVIDER],
  );
  await query(url, 'ANALYZE');
}

async function drain(url) {
  const load = (path) => import(pathToFileURL(join(resolve(options.dist), path)).href);
  await import('reflect-metadata');
  const { Database } = await load('storage/database.js');
  const { dataSourceOptions } = await load('storage/data-source.js');
  const { ServerDataSource } = await load('storage/server-data-source.js');
  const { resolveSettings } = await load('config/resolve-settings.js');
  const settings = benchSettings(resolveSettings({}).settings);
  const source = new ServerDataSource({ ...dataSourceOptions(settings.storage), url });
  await source.initialize();
  source.open(true);
  const database = new Database(source);
  const counts = { statements: 0, checked: 0, underWay: 0, mostUnderWay: 0 };
  const { query: send } = database;
  const count = (...args) => {
    counts.statements += 1;
    return send(...args);
  };
  database.query = Object.assign(count, { manager: send.manager });
  const job = await buildJob(load, database, settings, counts);
  const samples = [];
  const begun = performance.now();
  const watch = sample(counts, samples, begun);
  await job.tick();
  const elapsedMs = performance.now() - begun;
  watch.stop();
  const left = await query(
    url,
    `SELECT count(*)::int AS due FROM identity
     WHERE eligibility_next_check_at <= now() OR lease_until IS NOT NULL`,
  );
  await job.beforeApplicationShutdown();
  await source.destroy();
  return { counts, samples, elapsedMs, left: left[0].due };
}

function benchSettings(settings) {
  const offboarding = {
    enabled: true,
    intervalSeconds: 86_400,
    strict: false,
    concurrency: CONCURRENCY,
    checksPerSecond: 0,
  };
  const auth = { ...settings.auth, requiredLoginProviders: [PROVIDER], offboarding };
  return { ...settings, auth, providers: [{ id: PROVIDER }] };
}

/** Everything but the provider is the server's own. */
async function buildJob(load, database, settings, counts) {
  const { IdentityDueRepository } = await load('storage/repositories/identity-due.repository.js');
  const { AccountRecheck } = await load('offboarding/account-recheck.js');
  const { IdentityEvents } = await load('auth/identity-events.js');
  const { OffboardingJob } = await load('offboarding/offboarding.job.js');
  const { Metrics } = await load('metrics/metrics.js');
  const noRules = { users: [], emailDomains: [], groupsAny: [], groupsAll: [], orgs: [] };
  const provider = {
    recheck: async ({ subject }) => {
      counts.underWay += 1;
      counts.mostUnderWay = Math.max(counts.mostUnderWay, counts.underWay);
      await sleep(UPSTREAM_MS);
      counts.underWay -= 1;
      counts.checked += 1;
      const facts = { login: subject, email: null, emailVerified: false, groups: [] };
      return { outcome: 'profile', profile: { subject, facts: { ...facts, memberships: {} } } };
    },
  };
  const registry = {
    get: () => provider,
    authority: () => ({ issuer: 'https://people.example', formerIssuers: [] }),
    rules: () => ({ ...noRules, orgMatch: 'any' }),
  };
  const clock = { now: () => Date.now() };
  const sealing = { open: () => null };
  const identities = new IdentityDueRepository(database, sealing);
  const events = new IdentityEvents();
  const metrics = new Metrics();
  const rechecks = new AccountRecheck(registry, identities, {}, metrics, clock, settings.auth);
  const { auth, providers } = settings;
  const job = new OffboardingJob(identities, rechecks, events, metrics, auth, providers);
  job.onModuleInit();
  return job;
}

/** Notes time, statements and memory whenever another thousand is done. */
function sample(counts, samples, begun) {
  const note = () => {
    if (counts.checked >= (samples.length + 1) * STEP) {
      globalThis.gc?.();
      samples.push({
        atMs: performance.now() - begun,
        statements: counts.statements,
        residentBytes: process.memoryUsage.rss(),
        heapBytes: process.memoryUsage().heapUsed,
      });
    }
  };
  const timer = setInterval(note, 5);
  return {
    stop: () => {
      note();
      clearInterval(timer);
    },
  };
}

function print({ counts, samples, elapsedMs, left }) {
  const perSecond = (counts.checked / elapsedMs) * 1000;
  const ideal = (CONCURRENCY * 1000) / UPSTREAM_MS;
  console.log(`${counts.checked} identities of ${COUNT} checked in ${(elapsedMs / 1000).toFixed(1)} s, ${left} left or leased
${perSecond.toFixed(0)} a second; ${CONCURRENCY} at a time and ${UPSTREAM_MS} ms each allow ${ideal}
at most ${counts.mostUnderWay} at a time; ${(counts.statements / counts.checked).toFixed(3)} statements an identity
| thousand | ms | statements | RSS MB | heap MB |
| --- | --- | --- | --- | --- |`);
  const every = Math.max(1, Math.floor(samples.length / 10));
  samples.forEach((one, index) => {
    if (index % every === 0 || index === samples.length - 1) {
      const before = samples[index - 1] ?? { atMs: 0, statements: 0 };
      const cells = [
        index + 1,
        (one.atMs - before.atMs).toFixed(0),
        one.statements - before.statements,
        (one.residentBytes / 1e6).toFixed(0),
        (one.heapBytes / 1e6).toFixed(1),
      ];
      console.log(`| ${cells.join(' | ')} |`);
    }
  });
}
