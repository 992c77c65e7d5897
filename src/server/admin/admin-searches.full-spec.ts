import { createStore, type Store } from '../../../test/fixtures/programs/store-fixture.js';
import { AdminAuditService } from './audit/admin-audit.service.js';
import { Clock } from '../../common/runtime/clock.js';
import { Runtime } from '../../common/runtime/runtime.js';
import { resolveSettings } from '../config/resolve-settings.js';
import { toOperatorName } from '../../core/policy/audit-event.js';
import { dataSourceOptions } from '../storage/data-source.js';
import type { DatabaseService } from '../storage/database.service.js';
import { openOperatorStorage } from '../storage/operator-storage.js';
import { SessionRepository } from '../storage/repositories/session.repository.js';
import { ServerDataSource } from '../storage/server-data-source.js';
import type { AccountAdminRepository } from '../storage/repositories/account-admin.repository.js';
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

const { storage: SETTINGS } = resolveSettings({}).settings;
const STORAGE = { ...SETTINGS, statementTimeoutMs: 0 };
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
  `INSERT INTO account (id, created_at, key_mode, encryption_mode, disabled_at, last_seen_at)
   SELECT gen_random_uuid(), now(), 'keyed', 'e2ee', CASE WHEN n % 10 = 0 THEN now() END,
     CASE WHEN n % 2 = 0 THEN now() + n * interval '1 second' END
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
  let names: AccountAdminRepository;
  let database: DatabaseService;
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
    const { accounts, ...storage } = openOperatorStorage(source);
    database = storage.database;
    // The plans are generic as on the server, where they serve for any value.
    source.open(true);
    const recording = <Row>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> => {
      statements.push({ sql, parameters });
      return database.query<Row>(sql, parameters);
    };
    const recorded = Object.assign(Object.create(database) as DatabaseService, {
      query: recording,
    });
    search = new AccountSearchRepository(recorded, accounts);
    audit = new AuditRepository(recorded);
    stored = new AuditRepository(database);
    names = accounts;
  });
  afterAll(async () => {
    await source.destroy();
    await store.drop();
  });
  beforeEach(() => void statements.splice(0));

  /** Returns the tables that the statements since the last call read completely. */
  async function scanned(): Promise<string[]> {
    const found: string[] = [];
    for (const statement of statements.splice(0)) {
      found.push(...scansIn(await planOf(statement)));
    }
    return found;
  }

  async function planOf({ sql, parameters }: Statement): Promise<Plan | undefined> {
    const rows = await source.query<{ 'QUERY PLAN': { Plan: Plan }[] }[]>(
      `EXPLAIN (FORMAT JSON) ${sql}`,
      [...parameters],
    );
    return rows[0]?.['QUERY PLAN'][0]?.Plan;
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

  const middle: AccountPosition = {
    key: `${(Date.now() + 10_000_000) * 1000}`,
    id: '77777777-0000-4000-8000-000000000000',
  };

  it.each<[string, AccountFilter]>([
    ['without a filter', {}],
    ['of active accounts', { state: 'active' }],
  ])('reads a page %s from the index of its order', async (_name, filter) => {
    await search.page(filter, null, 50);
    await search.page(filter, middle, 50);
    const plans = await Promise.all(statements.slice(0, 2).map(planOf));
    expect(plans.map((plan) => JSON.stringify(plan).includes('account_seen_idx'))).toEqual([
      true,
      true,
    ]);
  });

  it.each<[string, AccountFilter]>([
    ['disabled ones', { state: 'disabled' }],
    ['ineligible ones', { state: 'ineligible' }],
    ['of a provider', { provider: 'guild' }],
    ['active ones of a provider', { provider: 'guild', state: 'active' }],
    ['by a part of a name', { text: '4711@acme' }],
    ['by text, provider and state', { text: 'user1', provider: 'guild', state: 'active' }],
  ])('lists the last seen accounts first, %s', async (_name, filter) => {
    const { ids } = await all(filter, 1000);
    const rows = await source.query<{ id: string }[]>(
      'SELECT id FROM account ORDER BY COALESCE(last_seen_at, created_at) DESC, id DESC',
    );
    const wanted = new Set(ids);
    expect(ids.length).toBeGreaterThan(0);
    expect(ids).toEqual(rows.map(({ id }) => id).filter((id) => wanted.has(id)));
    const { total } = await search.page(filter, middle, 10);
    expect(total).toBe(ids.length);
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

  it('detects a scan of a whole table', async () => {
    statements.push({ sql: 'SELECT * FROM account WHERE update_seq = 7', parameters: [] });
    expect(await scanned()).toEqual(['account']);
  });

  it('finds an account by a part of its login or e-mail address, in any case', async () => {
    for (const text of ['person4711@acme.EXAMPLE', 'SON4711@', 'sEr4711']) {
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
  ])('treats %j as plain text', async (text) => {
    expect(await search.page({ text }, null, 10)).toEqual({
      ...{ accounts: [], next: null, total: 0 },
    });
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

  it('returns full pages of filters with few matches', async () => {
    const { ids, sizes } = await all({ provider: 'people', state: 'ineligible' }, 200);
    expect(ids).toHaveLength(ACCOUNTS / 100);
    expect(sizes).toEqual([200, 100]);
    expect(await all({ provider: 'guild', state: 'disabled' }, 50)).toEqual({
      ids: [],
      sizes: [0],
    });
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

  it('lists an account first once a session of it was used', async () => {
    const [last] = await source.query<{ id: string }[]>(
      'SELECT id FROM account ORDER BY COALESCE(last_seen_at, created_at), id LIMIT 1',
    );
    const [session] = await source.query<{ id: string }[]>(
      `INSERT INTO session (id, account_id, token_epoch, created_at, last_seen_at, expires_at, method)
       VALUES (gen_random_uuid(), $1, 0, now(), now(), now() + interval '1 day', 'device')
       RETURNING id`,
      [last?.id],
    );
    const sessions = source.getRepository('SessionEntity') as never;
    const used = Date.now() + 10 * 365 * 86_400_000;
    await new SessionRepository(database, sessions, new Runtime()).touch([
      [session?.id ?? '', used],
    ]);
    const { accounts } = await search.page({}, null, 1);
    expect(accounts).toMatchObject([{ id: last?.id }]);
  });

  it('keeps its position while accounts and events are added', async () => {
    const first = await search.page({}, null, 1000);
    await source.query(
      `INSERT INTO account (id, created_at, key_mode, encryption_mode, last_seen_at)
       SELECT gen_random_uuid(), now(), 'keyed', 'e2ee', now() + interval '1 year'
       FROM generate_series(1, 500)`,
    );
    await source.query(
      `UPDATE account SET last_seen_at = now() + interval '1 year'
      WHERE id = $1`,
      [first.accounts.at(-1)?.id],
    );
    const second = await search.page({}, first.next, 1000);
    const known = new Set(first.accounts.map(({ id }) => id));
    expect(second.accounts).toHaveLength(1000);
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
    const lines = new AdminAuditService(audit, names, new Clock()).export({
      kind: 'logged-in',
      order: 'newest-first',
    });
    const reader = lines[Symbol.asyncIterator]();
    const first = await reader.next();
    expect(String(first.value).trim().split('\n')).toHaveLength(500);
    // At most one page is read ahead of 30,000 events.
    expect(statements.length).toBeLessThanOrEqual(3);
    let left = 0;
    for await (const chunk of lines) {
      left += String(chunk).trim().split('\n').length;
    }
    expect(500 + left).toBe(ACCOUNTS - ACCOUNTS / 1000);
  });

  it('counts logins and refusals by bucket, from the index of times', async () => {
    const refused = { kind: 'login-refused', actor: 'user', accountId: null } as const;
    await stored.add(
      [
        { ...refused, provider: 'people', reason: 'not-eligible', count: 5 },
        { ...refused, provider: 'people', reason: 'group_missing', subject: 'sub', count: 5 },
        { ...refused, provider: 'people', reason: 'rate-limited', count: 2 },
      ],
      new Date(NOW + 120_000),
    );
    const [since, until] = [new Date(NOW + 100_000), new Date(NOW + 130_000)];
    expect(await audit.loginCounts(since, until, 10_000)).toEqual(
      expect.arrayContaining([
        { bucket: 0, logins: 999, refusals: 0 },
        { bucket: 1, logins: 999, refusals: 0 },
        { bucket: 2, logins: 999, refusals: 7 },
      ]),
    );
    expect(await scanned()).toEqual([]);
  });

  it('returns exactly the events of a filter', async () => {
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
