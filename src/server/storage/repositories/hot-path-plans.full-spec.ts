import { createHash } from 'node:crypto';
import { createStore, type Store } from '../../../../test/fixtures/programs/store-fixture.js';
import { runSql } from '../../../../test/fixtures/programs/services-fixture.js';
import {
  type Executed,
  expectFewRows,
  openRecorded,
} from '../../../../test/fixtures/statement-plans-fixture.js';
import { Random } from '../../../common/runtime/random.js';
import { Runtime } from '../../../common/runtime/runtime.js';
import { DatabaseService } from '../database.service.js';
import { ResourceSessionEntity } from '../entities/resource-session.entity.js';
import { SessionEntity } from '../entities/session.entity.js';
import { MasterKeys } from '../sealing/master-keys.js';
import { SealedBoxService } from '../sealing/sealed-box.service.js';
import type { ServerDataSource } from '../server-data-source.js';
import { LiveAccessRepository } from './live-access.repository.js';
import { ResourceSessionRepository } from './oauth/resource-session.repository.js';
import { LoginChallengeRepository } from './one-time.repository.js';
import { ProgramTokenRepository } from './programs/program-token.repository.js';
import { PushTokenRepository } from './push-token.repository.js';
import { type NewSession, SessionRepository } from './session.repository.js';

const ACCOUNTS = 100_000;
const NOW = new Date();
const LATER = new Date(NOW.getTime() + 3_600_000);
const TABLES = [
  ...['account', 'session', 'resource_session', 'program_grant', 'push_token', 'identity'],
  ...['login_challenge', 'audit_event'],
];
/** A row of each table that a statement joins, a few times. No statement reads a table. */
const MOST_ROWS = 50;

/** The id of account `n` and of all that it has, and its key. */
const ID = `('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid`;
const KEY = `sha256(n::text::bytea)`;
const EACH = `generate_series(1, ${ACCOUNTS}) AS n`;
const UNTIL = `now() + interval '1 hour'`;

/** SQL that adds the accounts, each with a row in each table. */
const FILL = [
  `INSERT INTO account (id, created_at, key_mode, public_key, encryption_mode)
     SELECT ${ID}, now(), 'device', ${KEY}, 'plain' FROM ${EACH}`,
  `INSERT INTO session (id, account_id, token_epoch, created_at, last_seen_at, expires_at, method)
     SELECT ${ID}, ${ID}, 0, now(), now() - interval '1 hour', ${UNTIL}, 'key_challenge' FROM ${EACH}`,
  `INSERT INTO resource_session (id, session_id, account_id, resource_server, expires_at, rules)
     SELECT id, id, account_id, 'relay', expires_at, 'r' FROM session`,
  `INSERT INTO program_grant (id, account_id, session_id, resource_server, client_id, client_name,
       redirect_uri, scopes, sid, authenticated_at, authenticated_by, created_at, expires_at,
       granted_until, code_hash, last_used_at, rules)
     SELECT ${ID}, ${ID}, ${ID}, 'relay', 'program', 'Program', '', '{}', ${ID}, now(),
       'key_challenge', now(), ${UNTIL}, ${UNTIL}, ${KEY}, now(), 'r' FROM ${EACH}`,
  `INSERT INTO push_token (id, account_id, token, token_hash, created_at, updated_at)
     SELECT ${ID}, ${ID}, 'token', ${KEY}, now(), now() FROM ${EACH}`,
  `INSERT INTO identity (id, account_id, provider, subject, connected_at)
     SELECT ${ID}, ${ID}, 'people', n::text, now() FROM ${EACH}`,
  `INSERT INTO login_challenge (challenge, expires_at) SELECT ${KEY}, ${UNTIL} FROM ${EACH}`,
];

const STATISTICS: readonly (readonly [string, (url: string) => Promise<unknown>])[] = [
  ['were never analysed', () => Promise.resolve()],
  ['are analysed', (url) => runSql(url, `VACUUM ANALYZE ${TABLES.join(', ')}`)],
];

describe.each(STATISTICS)('the hot paths, in tables that %s', (_name, analyse) => {
  let store: Store;
  let source: ServerDataSource;
  let executed: Executed[] = [];
  let next = 0;
  let use: (n: number) => Promise<void>;

  /** Every statement of the hot paths, for one account. */
  function hotPaths(database: DatabaseService): typeof use {
    const runtime = new Runtime();
    const random = new Random();
    const access = new LiveAccessRepository(database, runtime);
    const sessions = new SessionRepository(database, source.getRepository(SessionEntity), runtime);
    const backends = new ResourceSessionRepository(
      database,
      runtime,
      source.getRepository(ResourceSessionEntity),
    );
    const box = new SealedBoxService(new MasterKeys('a master secret of the tests', []), random);
    const tokens = new ProgramTokenRepository(database, box, runtime);
    const pushTokens = new PushTokenRepository(database, runtime);
    const challenges = new LoginChallengeRepository(database);
    const judgement = { until: Infinity, rules: 'r' };
    return async (n) => {
      const id = `00000000-0000-4000-8000-${`${n}`.padStart(12, '0')}`;
      const key = createHash('sha256').update(`${n}`).digest();
      const session = { accountId: id, sessionId: id };
      const grant = { ...session, isGrant: true } as const;
      // A login.
      expect(await challenges.take(key, NOW)).toBe(true);
      const login = newSession(random.uuid());
      expect(await sessions.logInByKey(key, login)).toMatchObject({ id, sessions: 1 });
      await sessions.logInTo(id, newSession(random.uuid()));
      expect(await sessions.endSurplus(id)).toEqual([]);
      // Requests and connections.
      for (const needsIdentities of [true, false]) {
        expect((await access.factsOf([session, grant], needsIdentities)).size).toBe(1);
      }
      expect(await access.updateSeqOf(id)).toBe(0);
      expect(await pushTokens.list(id)).toHaveLength(1);
      await sessions.touch([[id, NOW.getTime()]]);
      // An exchange, of a session that has one at the backend and of a new one.
      const key1 = { ...session, resourceServer: 'relay' };
      expect(await backends.findOpen(key1, judgement)).toMatchObject({ id });
      await backends.open({ ...key1, sessionId: login.id }, () => Promise.resolve(judgement));
      // Introspection.
      expect(await backends.find(id, 'relay')).toMatchObject(session);
      expect(await backends.findGrant(id, 'relay')).toEqual({ accountId: id, id });
      // A code and a refresh token of a program.
      for (const find of ['withCode', 'withGrant'] as const) {
        const used = await tokens[find](find === 'withCode' ? `${n}` : id, (held, tx) =>
          tokens.use(
            tx,
            held,
            { judgement, address: '127.0.0.1', generation: 1, supersededAt: [] },
            NOW,
          ),
        );
        expect(used).toMatchObject({ sid: id });
      }
      // A refresh that changes nothing that anything else decides by.
      const [read] = await Promise.all([tokens.read(id), tokens.read(id)]);
      const use = { judgement, address: '127.0.0.1', generation: 1, supersededAt: [] };
      const reuses = [use, { ...use, generation: 2 }, use].map(
        async (state) => read !== null && (await tokens.reuse(read, state, NOW)),
      );
      // A use at the same time that leads to another generation was decided by a state that has passed.
      expect(await Promise.all(reuses)).toEqual([true, false, true]);
      expect(await tokens.read(id)).toMatchObject({ generation: 1 });
    };
  }

  beforeAll(async () => {
    store = await createStore();
    const url = store.databaseUrl ?? '';
    for (const table of TABLES) {
      await runSql(url, `ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
    }
    for (const statement of FILL) {
      await runSql(url, statement);
    }
    await analyse(url);
    ({ source, executed } = await openRecorded(url));
    use = hotPaths(new DatabaseService(source));
    // PostgreSQL plans a prepared statement for any values from its sixth execution on.
    while (next < 6) {
      await use((next += 1));
    }
  });

  afterAll(async () => {
    await source.destroy();
    await store.drop();
  });

  it(`reads the rows of one account of ${ACCOUNTS}, and no more`, async () => {
    executed.length = 0;
    for (let more = 0; more < 7; more += 1) {
      await use((next += 1));
    }
    expectFewRows(executed, MOST_ROWS);
  });
});

function newSession(id: string): NewSession {
  return {
    ...{ id, method: 'key_challenge', createdAt: NOW, expiresAt: LATER },
    ...{ clientName: null, clientPlatform: null, address: null },
    ...{ providerSession: null, certificate: null, inherited: null },
  };
}
