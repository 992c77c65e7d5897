import { request, signUp } from '../client.mjs';
import {
  fillAccounts,
  FIRST_EVENT_AT,
  sumOf,
  timeStatements,
  withTimedCluster,
} from '../database.mjs';
import { runSql } from '../fixtures.mjs';
import { administration, migrate, startGatehouse } from '../gatehouse.mjs';
import { median, row } from '../report.mjs';

/** Time and statements in PostgreSQL, each on a private cluster. */
export const groups = {
  'authentication-sql': (context) => withTimedCluster(context, authentication),
  admin: (context) => withTimedCluster(context, searches),
};

const REQUESTS = 500;
/** The list is one select; every further statement is authentication. */
const OWN_STATEMENTS = 1;
/** Each connection is asked once a second, for all of its users. */
const IS_WRITABLE = 'pg_is_in_recovery';

async function authentication(context) {
  await migrate(context);
  const { url, stop } = await startGatehouse(context);
  const { token } = await signUp(url);
  const list = () => request(url, 'GET', '/v1/push-tokens', { token });
  await list();
  const { statements } = await timeStatements(context.databaseUrl, async () => {
    for (let index = 0; index < REQUESTS; index += 1) {
      await list();
    }
  });
  await stop();
  const ofRequests = statements.filter(({ text }) => !text.includes(IS_WRITABLE));
  const calls = sumOf(ofRequests, 'calls');
  return [
    row({
      work: 'SQL statements a warm authenticated request, for authentication',
      unit: '',
      gatehouse: calls / REQUESTS - OWN_STATEMENTS,
      least: 0,
      note: `${calls} statements in ${REQUESTS} requests of a route that needs ${OWN_STATEMENTS}`,
      rounds: statements,
    }),
  ];
}

const ACCOUNTS = 1_000_000;
/** Requests before the measurement fill the cache, as the console of an administrator does. */
const WARM_UP = 3;
const PAGES = 20;
const BAR_MS = 50;
const LIMIT = 200;

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
    since: FIRST_EVENT_AT + 100_000_000,
    until: FIRST_EVENT_AT + 500_000_000,
  }),
};

/** The time that PostgreSQL spends on each page of the administration API, among a million accounts. */
async function searches(context) {
  const { databaseUrl } = context;
  await migrate(context);
  await fillAccounts(databaseUrl, { to: ACCOUNTS });
  const sample = 'SELECT id FROM account TABLESAMPLE SYSTEM (1) LIMIT $1';
  const accounts = (await runSql(databaseUrl, sample, [WARM_UP + PAGES])).map(({ id }) => id);
  const { env, origin, token } = await administration(context, 'read');
  const gatehouse = await startGatehouse(context, { env });
  const timed = ({ path, ...parameters }) =>
    timeStatements(databaseUrl, () =>
      request(origin, 'GET', `/admin/v1/${path}?${new URLSearchParams(parameters)}`, { token }),
    );
  const rows = [];
  for (const [search, requestOf] of Object.entries(SEARCHES)) {
    const times = await timesOf(timed, (turn) => requestOf({ accounts, turn }));
    rows.push(
      row({
        work: `${search.startsWith('audit') ? search : `accounts ${search}`}, database time a page`,
        unit: 'ms',
        gatehouse: Math.max(...times),
        least: BAR_MS,
        goal: BAR_MS / 5,
        note: `the slowest of ${times.length} pages; median ${median(times).toFixed(2)} ms`,
        rounds: times,
      }),
    );
  }
  await gatehouse.stop();
  return rows;
}

/** Goes from page to page, and begins again behind the last. @returns {Promise<number[]>} ms */
async function timesOf(timed, requestOf) {
  // A search by name is another one each time.
  const hasPages = JSON.stringify(requestOf(0)) === JSON.stringify(requestOf(1));
  const times = [];
  let cursor = null;
  for (let turn = 0; turn < WARM_UP + PAGES; turn += 1) {
    const wanted = requestOf(turn);
    const { result, ms, statements } = await timed({
      ...wanted,
      ...(!wanted.path.includes('/') && { limit: LIMIT }),
      ...(cursor !== null && { cursor }),
    });
    if (statements.length === 0) {
      throw new Error('No statement was seen.');
    }
    if (turn >= WARM_UP) {
      times.push(ms);
    }
    cursor = hasPages ? result.cursor : null;
  }
  return times;
}
