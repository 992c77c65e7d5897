import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import {
  call,
  expectErrorShape,
  makeDeviceKey,
  refusalOf,
  type Json,
} from '../../helpers/client.js';
import { connect } from '../../helpers/client-live.js';
import { HAS_SQL, startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { createStore, type Store } from '../../fixtures/programs/store-fixture.js';
import {
  endSession,
  listSessions,
  logInAs,
  sessionIdOf,
  sessionsOf,
  tokenOf,
} from '../../fixtures/sessions-fixture.js';

const MAX_SESSIONS = 100;
const REVOKED = { status: 401, code: 'token-revoked' };

const server = await startServer();

afterAll(() => server.stop());

const profile = (token: string) => call(server, 'GET', '/v1/account/profile', { token });

const rename = (token: string, id: string, body: Json) =>
  call(server, 'PATCH', `/v1/account/sessions/${encodeURIComponent(id)}`, { token, body });

describe('the sessions of an account', () => {
  it('lists the sessions of an account, newest first, with their origin', async () => {
    const key = makeDeviceKey();
    const client = { name: "Anna's phone", platform: 'ios 19' };
    const before = Date.now();
    const first = await tokenOf(server, key, { client });
    const second = await tokenOf(server, key);
    const sessions = await sessionsOf(server, second);
    expect(sessions).toEqual([
      {
        id: sessionIdOf(second),
        createdAt: expect.any(Number),
        lastSeenAt: expect.any(Number),
        expiresAt: expect.any(Number),
        method: 'key_challenge',
        client: { name: null, platform: null },
        address: '127.0.0.1',
        current: true,
      },
      {
        ...sessions[1],
        id: sessionIdOf(first),
        client,
        current: false,
      },
    ]);
    for (const { createdAt, lastSeenAt, expiresAt } of sessions) {
      expect(createdAt).toBeGreaterThanOrEqual(before);
      expect(lastSeenAt).toBe(createdAt);
      expect(Math.round((expiresAt - createdAt) / 1000 / 86_400)).toBe(30);
    }
    const [, payload = ''] = second.split('.');
    const { exp } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Json;
    expect(sessions[0]?.expiresAt).toBe(Number(exp) * 1000);
  });

  it('lists sessions only to their own account, and only with a token', async () => {
    const [mine, other] = [
      await tokenOf(server, makeDeviceKey()),
      await tokenOf(server, makeDeviceKey()),
    ];
    expect((await sessionsOf(server, mine)).map(({ id }) => id)).toEqual([sessionIdOf(mine)]);
    expect(refusalOf(await endSession(server, '', sessionIdOf(other)))).toMatchObject({
      status: 401,
    });
    expect((await endSession(server, mine, sessionIdOf(other))).body).toEqual({ success: true });
    expect((await profile(other)).status).toBe(200);
    const without = await call(server, 'GET', '/v1/account/sessions');
    expect(refusalOf(without)).toEqual({ status: 401, code: 'missing-token' });
    expectErrorShape(without);
  });

  it.each([
    ['no object', 'phone'],
    ['a list', []],
    ['a long name', { name: 'x'.repeat(65) }],
    ['a long name of emoji', { name: '😀'.repeat(65) }],
    ['a long platform', { platform: 'x'.repeat(33) }],
    ['an empty name', { name: '' }],
    ['a name of blanks', { name: ' \u3000' }],
    ['a platform of blanks', { platform: ' ' }],
    ['a number for a name', { name: 7 }],
    ['a line break', { name: 'two\nlines' }],
    ['half a surrogate pair', { name: '\ud800' }],
    ['null', null],
  ])('refuses a login from a client that is %s', async (_what, client) => {
    const answer = await logInAs(server, makeDeviceKey(), { client });
    expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-request' });
    expect(answer.body['details']).toEqual([{ path: 'client', message: expect.any(String) }]);
  });

  it('counts an emoji of a name as one character', async () => {
    const client = { name: '😀'.repeat(64), platform: '😀'.repeat(32) };
    const key = makeDeviceKey();
    const { status, body } = await logInAs(server, key, { client });
    expect(status).toBe(200);
    expect(await sessionsOf(server, String(body['token']))).toMatchObject([{ client }]);
  });

  it('ends one session: the token, its live connection, and no other', async () => {
    const key = makeDeviceKey();
    const [one, two] = [await tokenOf(server, key), await tokenOf(server, key)];
    const live = await connect(server, { token: one });
    const other = await connect(server, { token: two });
    await live.next('hello');
    expect((await endSession(server, two, sessionIdOf(one))).body).toEqual({ success: true });
    expect(await live.next('closing')).toMatchObject({ code: 'token-revoked' });
    await live.disconnected;
    expect(refusalOf(await profile(one))).toEqual(REVOKED);
    expect((await profile(two)).status).toBe(200);
    expect(other.socket.connected).toBe(true);
    expect((await sessionsOf(server, two)).map(({ id }) => id)).toEqual([sessionIdOf(two)]);
    // The session may exist or not.
    for (const id of [sessionIdOf(one), randomUUID(), 'nonsense', '%00', "'; --"]) {
      expect((await endSession(server, two, id)).body).toEqual({ success: true });
    }
    other.close();
  });

  it('ends a session for 50 simultaneous calls, each with success', async () => {
    const key = makeDeviceKey();
    const [one, two] = [await tokenOf(server, key), await tokenOf(server, key)];
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => endSession(server, two, sessionIdOf(one))),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
    expect(refusalOf(await profile(one))).toEqual(REVOKED);
  });

  it('lets the owner name a session, and no other account', async () => {
    const key = makeDeviceKey();
    const client = { name: 'a computer', platform: 'linux' };
    const [one, two] = [await tokenOf(server, key, { client }), await tokenOf(server, key)];
    const stranger = await tokenOf(server, makeDeviceKey());
    const id = sessionIdOf(one);
    expect((await rename(two, id, { name: "Anna's computer 💻" })).body).toEqual({ success: true });
    const named = (await sessionsOf(server, two)).find((session) => session.id === id);
    expect(named?.client).toEqual({ name: "Anna's computer 💻", platform: 'linux' });
    for (const [token, unknown] of [
      [stranger, id],
      [two, randomUUID()],
      [two, 'nonsense'],
      [two, '%00'],
    ] as const) {
      const refused = await rename(token, unknown, { name: 'x' });
      expect(refusalOf(refused)).toEqual({ status: 404, code: 'not-found' });
      expectErrorShape(refused);
    }
    const texts = ['', ' ', '\u3000', 'x'.repeat(65), 'two\nlines', 'a\u2028b', '\u202e', '\ud800'];
    for (const name of [...texts, 7, null, undefined, {}]) {
      const refused = await rename(two, id, { name });
      expect(refusalOf(refused)).toEqual({ status: 400, code: 'invalid-request' });
      expect(refused.body['details']).toEqual([{ path: 'name', message: expect.any(String) }]);
    }
    expect((await rename('', id, { name: 'x' })).status).toBe(401);
    await endSession(server, two, id);
    expect(refusalOf(await rename(two, id, { name: 'x' }))).toMatchObject({ status: 404 });
  });

  it('ends a session after the lifetime that its client chose, if that is the shorter one', async () => {
    const key = makeDeviceKey();
    const lifetimeOf = async (client: Json) => {
      const token = await tokenOf(server, key, { client });
      const [session] = await sessionsOf(server, token);
      return Math.ceil(((session?.expiresAt ?? 0) - (session?.createdAt ?? 0)) / 1000);
    };
    const common = await lifetimeOf({});
    expect(common).toBeGreaterThan(3600);
    expect(await lifetimeOf({ sessionSeconds: 60 })).toBeLessThanOrEqual(60);
    expect(await lifetimeOf({ sessionSeconds: common * 10 })).toBe(common);
    for (const sessionSeconds of [59, 60.5, '60', null, Number.MAX_VALUE]) {
      const refused = await logInAs(server, key, { client: { sessionSeconds } });
      expect(refusalOf(refused)).toEqual({ status: 400, code: 'invalid-request' });
      expect(refused.body['details']).toMatchObject([{ path: 'client' }]);
    }
  });

  it('ends with a logout', async () => {
    const key = makeDeviceKey();
    const [one, two] = [await tokenOf(server, key), await tokenOf(server, key)];
    await call(server, 'POST', '/v1/auth/logout', { token: one });
    expect((await sessionsOf(server, two)).map(({ id }) => id)).toEqual([sessionIdOf(two)]);
    expect(refusalOf(await listSessions(server, one))).toEqual(REVOKED);
  });

  it('lists exactly the sessions with valid tokens while logins and logouts everywhere race', async () => {
    const key = makeDeviceKey();
    const token = await tokenOf(server, key);
    const work = Array.from({ length: 50 }, (_value, index) =>
      index % 10 === 5
        ? call(server, 'POST', '/v1/auth/logout-everywhere', { token })
        : logInAs(server, key),
    );
    const tokens = (await Promise.all(work)).flatMap(({ body }) =>
      typeof body['token'] === 'string' ? [body['token']] : [],
    );
    const last = await tokenOf(server, key);
    const listed = (await sessionsOf(server, last)).map(({ id }) => id);
    const statuses = await Promise.all(
      [...tokens, last].map(async (token) => [token, (await profile(token)).status] as const),
    );
    const good = statuses.flatMap(([token, status]) => (status === 200 ? [token] : []));
    expect(tokens).toHaveLength(45);
    expect(good.map(sessionIdOf).sort()).toEqual([...listed].sort());
    expect(refusalOf(await profile(token))).toEqual(REVOKED);
  });

  it(`keeps at most ${MAX_SESSIONS} sessions: of 150 simultaneous logins the surplus ends`, async () => {
    const key = makeDeviceKey();
    const answers = await Promise.all(Array.from({ length: 150 }, () => logInAs(server, key)));
    expect(answers.map(({ status }) => status)).toEqual(Array(150).fill(200));
    const tokens = answers.map(({ body }) => String(body['token']));
    const statuses = await Promise.all(tokens.map(async (token) => (await profile(token)).status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(MAX_SESSIONS);
    const last = await tokenOf(server, key);
    expect(await sessionsOf(server, last)).toHaveLength(MAX_SESSIONS);
  });

  it('does not begin a session for a key without an account if the client sends create: false', async () => {
    const key = makeDeviceKey();
    const refused = await logInAs(server, key, { create: false });
    expect(refusalOf(refused)).toEqual({ status: 404, code: 'not-found' });
    expectErrorShape(refused);
    expect((await logInAs(server, key, { create: null })).body).toMatchObject({ created: true });
    expect((await logInAs(server, key, { create: false })).body).toMatchObject({ created: false });
    const wrong = await logInAs(server, key, { create: 'no' });
    expect(refusalOf(wrong)).toEqual({ status: 400, code: 'invalid-request' });
  });
});

const withSql = HAS_SQL ? describe : describe.skip;
withSql('the rows of sessions (needs SQL)', () => {
  let store: Store;
  let own: Server;
  let client: Client;

  beforeAll(async () => {
    store = await createStore();
    own = await startServer({ store, env: { AUTH_ACCESS_CACHE_SECONDS: '0' } });
    client = new Client({ connectionString: store.databaseUrl ?? '' });
    await client.connect();
  });

  afterAll(async () => {
    await own.stop();
    await client.end();
    await store.drop();
  });

  const rows = async (sql: string, ...parameters: unknown[]): Promise<Json[]> =>
    (await client.query<Json>(sql, parameters)).rows;

  it('ends the session unused longest when there are too many', async () => {
    const key = makeDeviceKey();
    const token = await tokenOf(own, key);
    const { body } = await call(own, 'GET', '/v1/account/profile', { token });
    const idle = randomUUID();
    await rows(
      `INSERT INTO session (id, account_id, token_epoch, created_at, last_seen_at, expires_at, method)
       SELECT CASE WHEN n = 50 THEN $2 ELSE gen_random_uuid() END, $1, 0, now(),
         now() - CASE WHEN n = 50 THEN interval '9 days' ELSE interval '1 hour' END,
         now() + interval '1 day', 'key_challenge' FROM generate_series(1, 99) AS n`,
      body['id'],
      idle,
    );
    const next = await tokenOf(own, key);
    const ids = (await sessionsOf(own, next)).map(({ id }) => id);
    expect(ids).toHaveLength(MAX_SESSIONS);
    expect(ids).not.toContain(idle);
    expect(ids).toEqual(expect.arrayContaining([sessionIdOf(token), sessionIdOf(next)]));
  });

  it('records a login with its method, session and address', async () => {
    const token = await tokenOf(own, makeDeviceKey());
    expect(
      await rows(
        `SELECT kind, actor, provider, address FROM audit_event WHERE session_id = $1 ORDER BY id`,
        sessionIdOf(token),
      ),
    ).toEqual(
      ['signed-up', 'logged-in'].map((kind) => ({
        kind,
        actor: 'user',
        provider: 'key_challenge',
        address: '127.0.0.1',
      })),
    );
    await own.logged(new RegExp(`"kind":"logged-in"[^\\n]*${sessionIdOf(token)}`));
    await call(own, 'POST', '/v1/auth/logout', { token });
    expect(
      await rows(
        `SELECT kind FROM audit_event WHERE session_id = $1 ORDER BY id`,
        sessionIdOf(token),
      ),
    ).toEqual([{ kind: 'signed-up' }, { kind: 'logged-in' }, { kind: 'token-revoked' }]);
  });

  it('records no session of a refused login', async () => {
    const key = makeDeviceKey();
    const token = await tokenOf(own, key);
    const { body } = await call(own, 'GET', '/v1/account/profile', { token });
    await rows('UPDATE account SET disabled_at = now() WHERE id = $1', body['id']);
    const refused = await logInAs(own, key);
    expect(refusalOf(refused)).toEqual({ status: 403, code: 'account-disabled' });
    expect(refused.body['accountId']).toBe(body['id']);
    expect(await rows('SELECT id FROM session WHERE account_id = $1', body['id'])).toEqual([
      { id: sessionIdOf(token) },
    ]);
    expect(
      await rows(
        `SELECT count(*)::int AS n FROM audit_event WHERE account_id = $1 AND kind = 'logged-in'`,
        body['id'],
      ),
    ).toEqual([{ n: 1 }]);
  });

  it('records the time of the last use, at the latest when the server stops', async () => {
    const token = await tokenOf(own, makeDeviceKey());
    const [seen] = await sessionsOf(own, token);
    await rows(
      `UPDATE session SET last_seen_at = now() - interval '1 day' WHERE id = $1`,
      sessionIdOf(token),
    );
    await call(own, 'GET', '/v1/account/profile', { token });
    await own.kill('SIGTERM');
    own = await startServer({ store, env: { AUTH_ACCESS_CACHE_SECONDS: '0' } });
    const [again] = await sessionsOf(own, token);
    expect(again?.lastSeenAt).toBeGreaterThanOrEqual(seen?.lastSeenAt ?? Infinity);
  });
});
