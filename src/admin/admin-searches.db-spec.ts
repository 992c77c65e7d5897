import { createStore, type Store } from '../../test/helpers/server-store.js';
import { AdminAuditService } from './audit/admin-audit.service.js';
import { Clock } from '../common/clock.js';
import { resolveSettings } from '../config/resolve-settings.js';
import { toOperatorName } from '../policy/audit-event.js';
import { dataSourceOptions } from '../storage/data-source.js';
import type { Database, Query } from '../storage/database.js';
import { openOperatorStorage } from '../storage/operator-storage.js';
import { ServerDataSource } from '../storage/server-data-source.js';
import {
  AccountSearchRepository,
  type AccountFilter,
  type AccountPosition,
} from '../storage/repositories/account-search.repository.js';
import {
  AuditRepository,
  type AuditFilter,
  type AuditPosition,
} from '../storage/repositories/audit.repository.js';

const { storage } = resolveSettings({}).settings;
const STORAGE = { ...storage, statementTimeoutMs: 0 };
const ACCOUNTS = 30_000;
const NOW = 1_700_000_000_000;

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly Plan[];
}

interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

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
   SELECT to_timestamp(${NOW / 1000} + n / 100), CASE n % 1000 WHEN 0 THEN 'account-disabled' ELSE 'logged-in' END,
     CASE n % 1000 WHEN 0 THEN 'alice' ELSE 'user' END, id
   FROM (SELECT id, row_number() OVER () AS n FROM account) AS numbered`,
  'ANALYZE',
];

describe('the searches of an administrator', () => {
  let store: Store;
  let source: ServerDataSource;
  let search: AccountSearchRepository;
  let audit: AuditRepository;
  let stored: AuditRepository;
  const statements: Statement[] = [];

  beforeAll(async () => {
    store = await createStore();
    const url = store.databaseUrl ?? '';
    source = new ServerDataSource({ ...dataSourceOptions(STORAGE), url });
    await source.initialize();
    source.open(true);
    for (const statement of FILL) {
      await source.query(statement);
    }
    const { database, accounts } = openOperatorStorage(source);
    // As the server does, whose plans serve for any value.
    source.open(true);
    const recording = (<Row>(sql: string, parameters: readonly unknown[] = []) => {
      statements.push({ sql, parameters });
      return database.query<Row>(sql, parameters);
    }) as Query;
    const recorded = Object.assign(Object.create(database) as Database, { query: recording });
    search = new AccountSearchRepository(recorded, accounts);
    audit = new AuditRepository(recorded);
    stored = new AuditRepository(database);
  });
  afterAll(async () => {
    await source.destroy();
    await store.drop();
  });
  beforeEach(() => void statements.splice(0));

  /** The tables that the statements since the last call read from end to end. */
  async function scanned(): Promise<string[]> {
    const found: string[] = [];
    for (const { sql, parameters } of statements.splice(0)) {
      const rows = await source.query<{ 'QUERY PLAN': { Plan: Plan }[] }[]>(
        `EXPLAIN (FORMAT JSON) ${sql}`,
        [...parameters],
      );
      found.push(...scansIn(rows[0]?.['QUERY PLAN'][0]?.Plan));
    }
    return found;
  }

  async function all(filter: AccountFilter, limit: number) {
    const ids: string[] = [];
    const sizes: number[] = [];
    let after: AccountPosition | null = null;
    do {
      const page = await search.page(filter, after, limit);
      ids.push(...page.accounts.map(({ id }) => id));
      sizes.push(page.accounts.length);
      after = page.next;
    } while (after !== null && sizes.length < 100);
    return { ids, sizes };
  }

  const middle: AccountPosition = { key: 'person5', id: '77777777-0000-4000-8000-000000000000' };

  it.each<[string, AccountFilter]>([
    ['without a filter', {}],
    ['active ones', { state: 'active' }],
    ['disabled ones', { state: 'disabled' }],
    ['ineligible ones', { state: 'ineligible' }],
    ['of a provider', { provider: 'people' }],
    ['disabled ones of a provider', { provider: 'guild', state: 'disabled' }],
    ['active ones of a provider', { provider: 'guild', state: 'active' }],
    ['by an e-mail address', { text: 'person4711@acme.example' }],
    ['by the beginning of every e-mail address', { text: 'p' }],
    ['by text, provider and state', { text: 'user1', provider: 'guild', state: 'ineligible' }],
    ['by text that no account has', { text: '%' }],
  ])('reads accounts %s without reading a whole table', async (_name, filter) => {
    await search.page(filter, null, 50);
    await search.page(filter, middle, 50);
    expect(statements).toHaveLength(2);
    expect(await scanned()).toEqual([]);
  });

  it.each<[string, AuditFilter]>([
    ['without a filter', {}],
    ['of a time', { since: NOW + 100_000, until: NOW + 200_000 }],
    ['of logins', { kind: 'logged-in' }],
    ['of a kind', { kind: 'account-disabled' }],
    ['of a kind that is not there', { kind: 'signed-up' }],
    ['of an operator', { actor: 'alice', since: NOW + 100_000 }],
    ['of an operator and a kind', { actor: 'alice', kind: 'logged-in' }],
    ['of users', { actor: 'user' }],
    ['of providers, of which there are none', { actor: 'provider' }],
    ['of an account', { accountId: middle.id, kind: 'logged-in' }],
  ])('reads events %s without reading a whole table', async (_name, filter) => {
    const after: AuditPosition = { at: NOW + 150_000, id: '20000' };
    for (const order of ['newest-first', 'oldest-first'] as const) {
      await audit.page(filter, null, { order, limit: 50 });
      await audit.page(filter, after, { order, limit: 50 });
    }
    expect(statements).toHaveLength(4);
    expect(await scanned()).toEqual([]);
  });

  it.each(['user29999', 'PERSON29999@acme.example'])(
    'reads the indexes only where names begin with %s',
    async (text) => {
      await search.page({ text }, null, 50);
      const [{ sql = '', parameters = [] } = {}] = statements;
      const rows = await source.query<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }[]>(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`,
        [...parameters],
      );
      const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
      const blocks = Number(plan?.['Shared Hit Blocks']) + Number(plan?.['Shared Read Blocks']);
      expect(blocks).toBeLessThan(50);
    },
  );

  it('would find a scan of a whole table', async () => {
    statements.push({ sql: 'SELECT * FROM account WHERE update_seq = 7', parameters: [] });
    expect(await scanned()).toEqual(['account']);
  });

  it('finds an account by the beginning of its login or e-mail address, in any case', async () => {
    for (const text of ['person4711@acme.EXAMPLE', 'PERSON4711@', 'uSer4711']) {
      const { accounts, next } = await search.page({ text }, null, 10);
      expect({
        text,
        next,
        logins: accounts.flatMap((one) => one.identities.map((i) => i.login)),
      }).toEqual({ text, next: null, logins: expect.arrayContaining(['User4711']) });
    }
    expect((await search.page({ text: 'user4711' }, null, 10)).accounts).toHaveLength(1);
  });

  it.each([
    '%',
    '_',
    '\\',
    "' OR true --",
    '"; DROP TABLE account',
    '\u{10FFFF}',
    'person4711@acme.example%',
  ])('takes %j as a text like any other', async (text) => {
    expect(await search.page({ text }, null, 10)).toEqual({ accounts: [], next: null });
  });

  it('lists every account of a filter once, on pages of any size', async () => {
    const disabled = await all({ state: 'disabled' }, 1000);
    expect(disabled.ids).toHaveLength(ACCOUNTS / 10);
    expect(new Set(disabled.ids).size).toBe(ACCOUNTS / 10);
    const named = await all({ text: 'person47', provider: 'people', state: 'active' }, 100);
    const [expected] = await source.query<{ ids: string[] }[]>(
      `SELECT array_agg(account.id::text) AS ids FROM account JOIN identity ON account_id = account.id
       WHERE login LIKE 'User47%' AND provider = 'people' AND disabled_at IS NULL`,
    );
    expect([...named.ids].sort()).toEqual([...(expected?.ids ?? [])].sort());
  });

  it('goes on behind a page without a match', async () => {
    const { ids, sizes } = await all({ provider: 'guild', state: 'disabled' }, 50);
    expect(ids).toEqual([]);
    expect(sizes.length).toBeGreaterThan(1);
  });

  it('lists an account with several matching names once', async () => {
    const [account] = await source.query<{ id: string }[]>(
      `INSERT INTO account (id, created_at, key_mode, encryption_mode)
       VALUES (gen_random_uuid(), now(), 'keyed', 'e2ee') RETURNING id`,
    );
    for (const [provider, login] of [
      ['people', 'zoe-1'],
      ['guild', 'zoe-2'],
      ['mtls', null],
    ]) {
      await source.query(
        `INSERT INTO identity (id, account_id, provider, subject, login, connected_at, facts)
         VALUES (gen_random_uuid(), $1, $2, 'Zoe-3@acme.example', $3, now(), '{"email":"zoe-0@x"}')`,
        [account?.id, provider, login],
      );
    }
    expect(await all({ text: 'zoe' }, 1)).toMatchObject({ ids: [account?.id] });
    expect(await all({ text: 'ZOE-3@' }, 1)).toMatchObject({ ids: [account?.id] });
    expect(await all({ text: 'zoe-2' }, 1)).toMatchObject({ ids: [account?.id] });
  });

  it('keeps its place while accounts and events are added', async () => {
    const first = await search.page({}, null, 1000);
    await source.query(
      `INSERT INTO account (id, created_at, key_mode, encryption_mode)
       SELECT gen_random_uuid(), now(), 'keyed', 'e2ee' FROM generate_series(1, 500)`,
    );
    const second = await search.page({}, first.next, 1000);
    const known = new Set(first.accounts.map(({ id }) => id));
    expect(second.accounts.filter(({ id }) => known.has(id))).toEqual([]);

    const newest = await audit.page({}, null, { order: 'newest-first', limit: 100 });
    const alice = toOperatorName('alice');
    await stored.add(
      [{ kind: 'account-enabled', actor: alice ?? 'user', accountId: null }],
      new Date(NOW * 1.1),
    );
    const older = await audit.page({}, newest.next, { order: 'newest-first', limit: 100 });
    const ids = [...newest.events, ...older.events].map(({ id }) => Number(id));
    expect(ids).toEqual([...new Set(ids)].sort((one, other) => other - one));
    expect(ids).toHaveLength(200);
  });

  it('exports no further than its reader has read', async () => {
    const lines = new AdminAuditService(audit, new Clock()).export({
      kind: 'logged-in',
      order: 'newest-first',
    });
    const reader = lines[Symbol.asyncIterator]();
    const first = await reader.next();
    expect(String(first.value).trim().split('\n')).toHaveLength(500);
    // One page is read ahead at most, whatever the 30,000 events.
    expect(statements.length).toBeLessThanOrEqual(3);
    let left = 0;
    for await (const chunk of lines) {
      left += String(chunk).trim().split('\n').length;
    }
    expect(500 + left).toBe(ACCOUNTS - ACCOUNTS / 1000);
  });

  it('gives exactly the events of a filter', async () => {
    let after: AuditPosition | null = null;
    let count = 0;
    do {
      const page: Awaited<ReturnType<AuditRepository['page']>> = await audit.page(
        { kind: 'account-disabled', actor: 'alice' },
        after,
        { order: 'newest-first', limit: 7 },
      );
      page.events.forEach((event) => expect(event).toMatchObject({ kind: 'account-disabled' }));
      count += page.events.length;
      after = page.next;
    } while (after !== null);
    expect(count).toBe(ACCOUNTS / 1000);
  });
});

function scansIn(plan: Plan | undefined): string[] {
  const own = plan?.['Node Type'] === 'Seq Scan' ? [plan['Relation Name'] ?? '?'] : [];
  return [...own, ...(plan?.Plans ?? []).flatMap(scansIn)];
}
