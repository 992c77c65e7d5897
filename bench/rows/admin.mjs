import { administration } from '../administration.mjs';
import { getJson } from '../client.mjs';
import { fillAccounts, FIRST_EVENT_AT } from '../fill-accounts.mjs';
import { migrate, startGatehouse } from '../gatehouse.mjs';
import { query } from '../postgres.mjs';
import { median, row } from '../report.mjs';
import { beginTiming, startTimedCluster, timeStatements } from '../statement-times.mjs';

const name = 'admin';
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
export const group = {
  name,
  run: async (context) => {
    const cluster = await startTimedCluster(context.directory, 'admin');
    try {
      return await measure({ ...context, databaseUrl: cluster.url });
    } finally {
      await cluster.stop();
    }
  },
};

async function measure(context) {
  await migrate(context);
  await beginTiming(context.databaseUrl);
  await fillAccounts(context.databaseUrl, { to: ACCOUNTS });
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
  const { env, origin, token } = await administration(context, 'read');
  const gatehouse = await startGatehouse(context, { env });
  return {
    stop: gatehouse.stop,
    ask: ({ path, ...parameters }) =>
      getJson(`${origin}/admin/v1/${path}?${new URLSearchParams(parameters)}`, token),
  };
}

/** Goes from page to page, and begins again behind the last. @returns {Promise<number[]>} ms */
async function timesOf({ databaseUrl }, ask, requestOf) {
  const times = [];
  let cursor = null;
  for (let turn = 0; turn < WARM_UP + PAGES; turn += 1) {
    const { path, ...filter } = requestOf(turn);
    const isList = !path.includes('/');
    const { result: page, ms } = await timeStatements(databaseUrl, () =>
      ask({
        path,
        ...filter,
        ...(isList && { limit: LIMIT }),
        ...(cursor !== null && { cursor }),
      }),
    );
    if (turn >= WARM_UP) {
      times.push(ms);
    }
    // A search by name is another one each time.
    cursor =
      isList && JSON.stringify(requestOf(0)) === JSON.stringify(requestOf(1)) ? page.cursor : null;
  }
  return times;
}
