import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Client, type QueryResultRow } from 'pg';
import { logIn, makeDeviceKey } from '../helpers/client.js';
import { startServer, type Server } from '../helpers/server.js';
import { createStore, type Store } from '../helpers/server-store.js';
import { postgresBinaries } from '../helpers/services.js';
import { AccountCalls, OPTIONAL_PLAIN, plain } from './account-calls.js';

/** The default master secret of the servers of these tests. */
export const OLD = 'the-old-master-secret-0123456789-0123456789';

/** Somewhere in everything that {@link writeMarked} writes. */
export const MARKER = 'plain-marker-7b1c0d';

export const UNSEALED = {
  SERVICE_FEATURE_ENCRYPTION__PLAIN_ACCOUNT_SETTINGS_AT_REST: 'none',
  SERVICE_FEATURE_ENCRYPTION__PLAIN_ACCOUNT_CREDENTIALS_AT_REST: 'none',
};

const MAX_DUMP_BYTES = 64 * 1024 * 1024;

let store: Store;
/** Of the store of this test. */
let database: Client;

beforeEach(async () => {
  store = await createStore();
  database = new Client({ connectionString: store.databaseUrl ?? '' });
  await database.connect();
});

afterEach(async () => {
  await database.end();
  await store.drop();
});

export const start = (env: Record<string, string> = {}): Promise<Server> =>
  startServer({ store, env: { ...OPTIONAL_PLAIN, SERVICE_MASTER_SECRET: OLD, ...env } });

/** What pg_dump writes of the database, and the bytes that stand in it as hexadecimal digits. */
export function dump(): Buffer {
  const text = execFileSync(join(postgresBinaries(), 'pg_dump'), [store.databaseUrl ?? ''], {
    maxBuffer: MAX_DUMP_BYTES,
  });
  const values = text.toString('latin1').match(/\\\\x[0-9a-f]+/g) ?? [];
  expect(values.length).toBeGreaterThan(0);
  return Buffer.concat([text, ...values.map((value) => Buffer.from(value.slice(3), 'hex'))]);
}

export async function writeMarked(server: Server, key = makeDeviceKey()): Promise<AccountCalls> {
  const account = new AccountCalls(server, (await logIn(server, key)).token);
  await account.writeSettingsV2(plain({ note: `${MARKER}-settings` }), 0);
  await account.putCredential('github', plain(`${MARKER}-credential`));
  return account;
}

export async function expectMarked(account: AccountCalls): Promise<void> {
  const { content } = (await account.settingsV2()).body;
  expect(content).toEqual(plain({ note: `${MARKER}-settings` }));
  const credential = await account.credential('github');
  expect(credential.body['content']).toEqual(plain(`${MARKER}-credential`));
}

/** Variables of the database of this test. */
export const storeEnvironment = (): Readonly<Record<string, string>> => store.env;

/** Past the servers, straight from the database of this test. */
export async function rowsOf<Row extends QueryResultRow>(
  sql: string,
  parameters: readonly unknown[] = [],
): Promise<Row[]> {
  return (await database.query<Row>(sql, [...parameters])).rows;
}
