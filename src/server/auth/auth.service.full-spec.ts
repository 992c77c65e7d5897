import { randomUUID } from 'node:crypto';
import { ManualClock } from '../../../test/fixtures/manual-clock.js';
import { createStore, type Store } from '../../../test/fixtures/programs/store-fixture.js';
import { momentOf } from '../../common/runtime/moment.js';
import { Runtime } from '../../common/runtime/runtime.js';
import { resolveSettings } from '../config/resolve-settings.js';
import { dataSourceOptions } from '../storage/data-source.js';
import { DatabaseService } from '../storage/database.service.js';
import { LiveAccessRepository } from '../storage/repositories/live-access.repository.js';
import { SessionRepository } from '../storage/repositories/session.repository.js';
import { MasterKeys } from '../storage/sealing/master-keys.js';
import { ServerDataSource } from '../storage/server-data-source.js';
import { AuthService, type Access } from './auth.service.js';
import { IdentityEvents } from './identity.events.js';
import { AccessTokenService } from './sessions/access-token.service.js';
import { SessionActivityService } from './sessions/session-activity.service.js';

const { auth: config, storage } = resolveSettings({}).settings;
const DAY_MS = 86_400_000;

describe(AuthService, () => {
  const clock = new ManualClock(1_800_000_000_000);
  let store: Store;
  let source: ServerDataSource;
  let auth: AuthService;
  let sessions: SessionRepository;

  beforeAll(async () => {
    store = await createStore();
    source = new ServerDataSource({ ...dataSourceOptions(storage), url: store.databaseUrl ?? '' });
    await source.initialize();
    source.open(true);
    const database = new DatabaseService(source);
    const runtime = new Runtime(clock);
    sessions = new SessionRepository(database, source.getRepository('SessionEntity'), runtime);
    auth = new AuthService(
      new AccessTokenService(new MasterKeys('a master secret of the tests', []), clock),
      new LiveAccessRepository(database, runtime),
      new SessionActivityService(sessions),
      runtime,
      config,
      new IdentityEvents(),
    );
  });
  afterAll(async () => {
    await source.destroy();
    await store.drop();
  });

  /** Stores an account with a session, and returns the access that a request of it had. */
  async function logIn(): Promise<Access> {
    const [accountId, sessionId] = [randomUUID(), randomUUID()];
    await source.query(
      `INSERT INTO "account" ("id", "created_at", "key_mode", "public_key", "encryption_mode")
       VALUES ($1, now(), 'keyed', $2, 'plain')`,
      [accountId, Buffer.from(accountId)],
    );
    const createdAt = new Date(clock.now());
    const expiresAt = new Date(clock.now() + DAY_MS);
    await sessions.logInTo(accountId, {
      ...{ id: sessionId, method: 'key_challenge', createdAt, expiresAt },
      ...{ clientName: null, clientPlatform: null, address: null },
      ...{ providerSession: null, certificate: null, inherited: null },
    });
    return {
      ...{ accountId, sessionId, loggedInAt: createdAt.getTime() },
      ...{ expiresAt: expiresAt.getTime(), holdsUntil: Infinity, providerRefusal: null },
      readAt: momentOf(clock),
    };
  }

  it('dates the facts of a check from before it read them', async () => {
    const access = await logIn();
    const before = momentOf(clock);
    const check = auth.judgeAgain([access]);
    clock.nowMs += 60_000;
    expect(await check).toMatchObject([
      { verdict: { sessionId: access.sessionId, readAt: before }, updateSeq: 0 },
    ]);
  });
});
