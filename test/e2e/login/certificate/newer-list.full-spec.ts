import { Pool } from 'pg';
import { call } from '../../../helpers/client.js';
import { waitFor } from '../../../helpers/wait.js';
import { createStore, type Store } from '../../../fixtures/programs/store-fixture.js';
import {
  files,
  issuing,
  publish,
  revocationLists,
  startDirect,
  type DirectServer,
} from '../../../fixtures/tls-listener-fixture.js';

/** Only a signal causes a re-check. */
const env = { AUTH_OFFBOARDING_INTERVAL_SECONDS: '86400' };

describe('a login while a newer revocation list arrives (needs PostgreSQL: it locks a table)', () => {
  let store: Store;
  let sql: Pool;
  let direct: DirectServer;

  beforeAll(async () => {
    store = await createStore();
    sql = new Pool({ connectionString: store.databaseUrl ?? '', max: 2 });
    direct = await startDirect({}, { store, env });
  });
  afterAll(async () => {
    await direct.server.stop();
    await sql.end();
    await store.drop();
  });

  it('ends although the list was applied before the login was stored', async () => {
    const [known, late] = ['known', 'late'].map((name) =>
      issuing.issue({ names: [`email:${name}@corp.example`] }),
    );
    if (known === undefined || late === undefined) {
      throw new Error('two certificates');
    }
    expect((await direct.logIn(known)).status).toBe(200);
    const lock = await sql.connect();
    await lock.query('BEGIN; LOCK TABLE "session" IN SHARE MODE');
    const login = direct.logIn(late);
    await waitFor('the login to wait for the lock', async () => {
      const { rows } = await sql.query(
        `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'session'::regclass
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      );
      return rows.length > 0;
    });
    issuing.revoke(known);
    issuing.revoke(late);
    publish({ ...files, 'crl.pem': revocationLists() }, 'newer');
    await direct.server.logged(/revocation signal/);
    await lock.query('COMMIT');
    lock.release();
    const { status, body } = await login;
    expect(status).toBe(200);
    const token = String(body['token']);
    await waitFor('the end of the access', async () => {
      const answer = await call(direct.server, 'GET', '/v1/push-tokens', { token });
      return answer.status === 403 && answer.body['code'] === 'not-eligible';
    });
  });
});
