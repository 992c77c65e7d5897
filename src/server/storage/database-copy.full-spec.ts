import {
  createEmbeddedStore,
  createStore,
  type EmbeddedStore,
  type Store,
} from '../../../test/fixtures/programs/store-fixture.js';
import { resolveSettings } from '../config/resolve-settings.js';
import { dataSourceOptions, withAddress, type DatabaseAddress } from './data-source.js';
import { DatabaseCopy, TargetNotEmptyError, type CopyProgress } from './database-copy.js';
import { DatabaseService } from './database.service.js';
import { startEmbeddedDatabase, type EmbeddedDatabase } from './embedded/embedded-database.js';
import { ServerDataSource } from './server-data-source.js';

const { storage } = resolveSettings({}).settings;

const open = async (address: DatabaseAddress): Promise<ServerDataSource> => {
  const patient = { ...storage, statementTimeoutMs: 600_000, poolSize: 1 };
  const source = new ServerDataSource(withAddress(dataSourceOptions(patient), address));
  await source.initialize();
  source.open(false);
  return source;
};

/** Accounts of which two have settings of 3 MB, and rows of every type of column. */
const ROWS = `
  INSERT INTO account (id, created_at, key_mode, public_key, encryption_mode, update_seq)
  SELECT md5(n::text)::uuid, '2026-01-02 03:04:05.678901+00', 'keyed', decode(md5(n::text), 'hex'),
    'e2ee', 9007199254740993 FROM generate_series(1, 2300) AS n;
  UPDATE account SET settings_form = 'encrypted', settings_content = convert_to(repeat('s', 3000000), 'UTF8')
  WHERE id IN (SELECT id FROM account ORDER BY id LIMIT 2);
  INSERT INTO account_credential (account_id, service, form, content, updated_at)
  SELECT id, service, 'plain', '\\x00ff5c22', 'infinity' FROM account,
    unnest(ARRAY['b', 'B', 'ä', 'a"{},\\NULL', 'NULL', '']) AS service WHERE id < '01000000-0000-0000-0000-000000000000';
  INSERT INTO identity (id, account_id, provider, subject, connected_at, facts, certificate)
  SELECT id, id, 'okta', id::text, now(), '{"groups": ["a\\\\b", null], "n": 1.50}', 'null' FROM account;
  INSERT INTO directory_person (id, provider, user_name, is_active, emails, email_values, created_at, changed_at)
  VALUES (md5('1')::uuid, 'okta', 'ada', true, '[{"value": "a@b.example"}]', ARRAY['a,"{}\\@b', 'NULL', ''], now(), now());
  INSERT INTO audit_event (at, kind, actor, reason)
  SELECT now(), 'logged-in', 'user', E'first\\nsecond \\U0001F512' FROM generate_series(1, 30);
  DELETE FROM audit_event WHERE id > 20;`;

describe(DatabaseCopy.name, () => {
  let from: EmbeddedStore;
  let embedded: EmbeddedDatabase;
  let source: ServerDataSource;
  let store: Store;
  let target: ServerDataSource;

  beforeAll(async () => {
    from = await createEmbeddedStore();
    embedded = await startEmbeddedDatabase({ dataDir: from.env.SERVICE_DATA_DIR });
    source = await open(embedded.address);
    for (const statement of ROWS.split(/;\n/)) {
      await source.query(statement);
    }
  });
  afterAll(async () => {
    await source.destroy();
    await embedded.stop();
    await from.drop();
  });
  beforeEach(async () => {
    store = await createStore();
    target = await open({ url: store.databaseUrl ?? '' });
  });
  afterEach(async () => {
    await target.destroy();
    await store.drop();
  });

  const copy = (
    verify: () => Promise<void> = () => Promise.resolve(),
    report: (progress: CopyProgress) => void = () => undefined,
  ) => new DatabaseCopy(new DatabaseService(source), target).run(verify, report);

  it('writes every row with the same values, in batches of limited number and size', async () => {
    const progress: CopyProgress[] = [];
    const tables = await copy(undefined, (one) => progress.push(one));
    expect(tables).toHaveLength(target.entityMetadatas.length);
    for (const { table, rows } of tables) {
      expect(await digestOf(target, table)).toEqual(await digestOf(source, table));
      const batches = progress.filter((one) => one.table === table);
      expect(batches.reduce((sum, { batch }) => sum + batch, 0)).toBe(rows);
    }
    const accounts = progress.filter(({ table }) => table === 'account');
    expect(accounts.map(({ batch }) => batch)).toEqual([2, 1000, 1000, 298]);
    expect(accounts.at(-1)).toMatchObject({ rows: 2300, total: 2300 });
  });

  it('continues the numbers of events, also after those of deleted ones', async () => {
    await copy();
    const [event] = await target.query<{ id: string }[]>(
      `INSERT INTO audit_event (at, kind, actor) VALUES (now(), 'logged-in', 'user') RETURNING id`,
    );
    expect(event?.id).toBe('31');
  });

  it('leaves the target empty if the verification fails', async () => {
    const refused = copy(() => Promise.reject(new Error('not the same')));
    await expect(refused).rejects.toThrow('not the same');
    expect(await target.query('SELECT id FROM account')).toEqual([]);
    expect(await copy()).toContainEqual({ table: 'account', rows: 2300 });
  });

  it('refuses a target that has rows, and names their tables', async () => {
    await target.query(`INSERT INTO login_challenge VALUES ('\\x00', now())`);
    await expect(copy()).rejects.toThrow(TargetNotEmptyError);
    await expect(copy()).rejects.toThrow('login_challenge');
    expect(await target.query('SELECT id FROM account')).toEqual([]);
  });
});

/** Digests the rows as text, sorted in a way that does not depend on the collation. */
async function digestOf(source: ServerDataSource, table: string): Promise<unknown> {
  return source.query(
    `SELECT count(*)::int AS count, md5(string_agg(md5(row::text), '' ORDER BY md5(row::text) COLLATE "C"))
     FROM "${table}" AS row`,
  );
}
