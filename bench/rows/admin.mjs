import { createHash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getJson } from '../client.mjs';
import { migrate, startGatehouse } from '../gatehouse.mjs';
import { query, startCluster } from '../postgres.mjs';
import { freePort } from '../processes.mjs';
import { median, row } from '../report.mjs';

const name = 'admin';
const ACCOUNTS = 1_000_000;
/** What is asked beforehand fills the cache, as the console of an administrator does. */
const WARM_UP = 3;
const PAGES = 20;
const BAR_MS = 50;
const LIMIT = 200;
const FILLED_WITHIN_S = 300;
const START = Date.UTC(2026, 0, 1);

/** Times are those of PostgreSQL itself; what is read is as fast without fsync as with it. */
const SETTINGS = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track_planning': 'on',
  fsync: 'off',
  shared_buffers: '512MB',
  max_wal_size: '8GB',
};

/** Every tenth account is disabled, every hundredth ineligible; one in ten uses another provider. */
const FILL = [
  `INSERT INTO account (id, created_at, key_mode, encryption_mode, disabled_at)
   SELECT gen_random_uuid(), now(), 'keyed', 'e2ee', CASE WHEN n % 10 = 0 THEN now() END
   FROM generate_series(1, ${ACCOUNTS}) AS n`,
  `INSERT INTO identity (id, account_id, provider, subject, login, connected_at, facts,
     eligibility_status)
   SELECT gen_random_uuid(), id, CASE WHEN n % 10 = 1 THEN 'guild' ELSE 'people' END, 'sub-' || n,
     'User' || n, now(), jsonb_build_object('email', 'person' || n || '@Acme.example'),
     CASE WHEN n % 100 = 0 THEN 'ineligible' ELSE 'eligible' END
   FROM (SELECT id, row_number() OVER () AS n FROM account) AS numbered`,
  `INSERT INTO audit_event (at, kind, actor, account_id)
   SELECT to_timestamp(${START / 1000} + n),
     CASE n % 1000 WHEN 0 THEN 'account-disabled' ELSE 'logged-in' END,
     CASE n % 1000 WHEN 0 THEN 'alice' ELSE 'user' END, id
   FROM (SELECT id, row_number() OVER () AS n FROM account) AS numbered`,
  'VACUUM ANALYZE',
];

/** The `turn` is another one each time, so that no page is asked for twice. */
const SEARCHES = {
  'by id': ({ accounts, turn }) => ({ path: `accounts/${accounts[turn]}` }),
  'by id, in the list': ({ accounts, turn }) => ({ path: 'accounts', query: accounts[turn] }),
  'by login': ({ turn }) => ({ path: 'accounts', query: `user${471_100 + turn}` }),
  'by e-mail address': ({ turn }) => ({
    path: 'accounts',
    query: `PERSON${471_100 + turn}@acme.example`,
  }),
  'by the beginning of every e-mail address': () => ({ path: 'accounts', query: 'p' }),
  'without a filter': () => ({ path: 'accounts' }),
  'of a provider': () => ({ path: 'accounts', provider: 'people' }),
  'that are active': () => ({ path: 'accounts', state: 'active' }),
  'that are disabled': () => ({ path: 'accounts', state: 'disabled' }),
  'that are ineligible': () => ({ path: 'accounts', state: 'ineligible' }),
  'of a provider and state that none has': () => ({
    path: 'accounts',
    provider: 'guild',
    state: 'disabled',
  }),
  'by text, provider and state': () => ({
    path: 'accounts',
    query: 'user1',
    provider: 'guild',
    state: 'ineligible',
  }),
  'audit without a filter': () => ({ path: 'audit' }),
  'audit of logins': () => ({ path: 'audit', kind: 'logged-in' }),
  'audit of a rare kind': () => ({ path: 'audit', kind: 'account-disabled' }),
  'audit of an operator': () => ({ path: 'audit', actor: 'alice' }),
  'audit of an account': ({ accounts, turn }) => ({ path: 'audit', accountId: accounts[turn] }),
  'audit of a time': () => ({
    path: 'audit',
    since: START + 100_000_000,
    until: START + 500_000_000,
  }),
};

/** The time that PostgreSQL spends on each page of the administration API, among a million accounts. */
export const group = {
  name,
  run: async (context) => {
    const cluster = await startCluster(context.directory, { name: 'admin', settings: SETTINGS });
    try {
      return await measure({ ...context, databaseUrl: cluster.url });
    } finally {
      await cluster.stop();
    }
  },
};

async function measure(context) {
  await migrate(context);
  await query(context.databaseUrl, 'CREATE EXTENSION pg_stat_statements');
  const startedAt = performance.now();
  for (const statement of FILL) {
    await query(context.databaseUrl, statement, [], FILLED_WITHIN_S * 1000);
  }
  const filledIn = Math.round((performance.now() - startedAt) / 1000);
  console.error(`filled with ${ACCOUNTS.toLocaleString('en')} accounts in ${filledIn} s`);
  const accounts = (
    await query(context.databaseUrl, 'SELECT id FROM account TABLESAMPLE SYSTEM (1) LIMIT $1', [
      WARM_UP + PAGES,
    ])
  ).map(({ id }) => id);
  const { ask, stop } = await startAdministration(context);
  const rows = [];
  for (const [search, requestOf] of Object.entries(SEARCHES)) {
    const times = await timesOf(context, ask, (turn) => requestOf({ accounts, turn }));
    rows.push(
      row({
        name,
        work: `${search.startsWith('audit') ? search : `accounts ${search}`}, database time a page`,
        unit: 'ms',
        limit: null,
        gatehouse: Math.max(...times),
        bar: 'at most',
        least: BAR_MS,
        goal: BAR_MS / 5,
        note: `the slowest of ${times.length} pages; median ${median(times).toFixed(2)} ms`,
        rounds: times,
      }),
    );
  }
  await stop();
  return rows;
}

/** A Gatehouse with an administration port. `ask` gets a page and returns its JSON. */
async function startAdministration(context) {
  const token = randomBytes(32).toString('base64url');
  const file = join(context.directory, 'admin-tokens.json');
  const sha256 = createHash('sha256').update(token).digest('hex');
  await writeFile(file, JSON.stringify([{ name: 'bench', sha256, role: 'read' }]));
  const port = await freePort();
  const gatehouse = await startGatehouse(context, {
    env: {
      ADMIN_PORT: `${port}`,
      ADMIN_TOKENS_FILE: file,
      ADMIN_RATE_LIMIT_PER_MINUTE: '1000000',
    },
  });
  return {
    stop: gatehouse.stop,
    ask: ({ path, ...parameters }) =>
      getJson(
        `http://127.0.0.1:${port}/admin/v1/${path}?${new URLSearchParams(parameters)}`,
        token,
      ),
  };
}

/** Goes from page to page, and begins again behind the last. @returns {Promise<number[]>} ms */
async function timesOf({ databaseUrl }, ask, requestOf) {
  const times = [];
  let cursor = null;
  for (let turn = 0; turn < WARM_UP + PAGES; turn += 1) {
    const { path, ...filter } = requestOf(turn);
    const isList = !path.includes('/');
    await query(databaseUrl, 'SELECT pg_stat_statements_reset()');
    const page = await ask({
      path,
      ...filter,
      ...(isList && { limit: LIMIT }),
      ...(cursor !== null && { cursor }),
    });
    const [{ ms, statements }] = await query(databaseUrl, SPENT);
    if (statements === 0) {
      throw new Error(`No statement was seen for ${path}.`);
    }
    if (turn >= WARM_UP) {
      times.push(ms);
    }
    // A search by name is another one each time.
    cursor =
      isList && JSON.stringify(requestOf(0)) === JSON.stringify(requestOf(1)) ? page.cursor : null;
  }
  return times;
}

const SPENT = `SELECT COALESCE(sum(total_plan_time + total_exec_time), 0)::float8 AS ms, count(*)::int AS statements
  FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'`;
