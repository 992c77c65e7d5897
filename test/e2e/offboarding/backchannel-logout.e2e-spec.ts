import { randomUUID } from 'node:crypto';
import { call, makeDeviceKey, refusalOf, type Answer, type Json } from '../../helpers/client.js';
import { connect } from '../../helpers/client-live.js';
import type { LogoutTokenChanges } from '../../fakes/people-provider.js';
import { begin, finalize } from '../../fixtures/provider-login-fixture.js';
import { KEYLESS, OffboardingFixture, type Person } from '../../fixtures/offboarding-fixture.js';
import { type Server } from '../../fixtures/programs/server-fixture.js';
import { sessionIdOf } from '../../fixtures/sessions-fixture.js';

const fixture = await OffboardingFixture.open();
const env = { ...KEYLESS, AUTH_SIGNUP_PROVIDERS: 'people', AUTH_ACCESS_CACHE_SECONDS: '15' };
const one = await fixture.start(env);
const other = await fixture.another(env);
const knownSession = randomUUID();
const known = await fixture.keylessLogin(one, randomUUID(), knownSession);
afterAll(() => fixture.close());

describe('back-channel logout', () => {
  const send = (token: string, provider = 'people'): Promise<Answer> =>
    call(one, 'POST', `/v1/auth/backchannel-logout/${provider}`, {
      body: new URLSearchParams({ logout_token: token }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  const logOut = async (sub: string, changes: LogoutTokenChanges, provider?: string) =>
    send(await fixture.provider.logoutToken(sub, changes), provider);
  const checksOf = ({ sub }: Person): number => fixture.provider.checks.get(sub) ?? 0;

  const old = Math.floor(Date.now() / 1000) - 3600;
  const event = 'http://schemas.openid.net/event/backchannel-logout';
  const refusals: [string, LogoutTokenChanges][] = [
    ['another issuer', { claims: { iss: 'https://evil.example' } }],
    ['another audience', { claims: { aud: 'another' } }],
    ['no audience', { claims: { aud: undefined } }],
    ['no iat', { claims: { iat: undefined } }],
    ['an old iat', { claims: { iat: old, exp: undefined } }],
    ['an iat to come', { claims: { iat: old + 7200, exp: undefined } }],
    ['an expiry in the past', { claims: { exp: old } }],
    ['no jti', { claims: { jti: undefined } }],
    ['no events', { claims: { events: undefined } }],
    ['another event', { claims: { events: { 'http://evil.example': {} } } }],
    ['an event that is no object', { claims: { events: { [event]: 'yes' } } }],
    ['a nonce', { claims: { nonce: 'n' } }],
    ['neither a subject nor a session', { claims: { sub: undefined, sid: undefined } }],
    ['a subject that is no text', { claims: { sub: 7 } }],
    ['a subject that no database stores', { claims: { sub: 'a\u0000b' } }],
    ['a session that is no text', { claims: { sid: 7 } }],
    ['an empty session', { claims: { sid: '' } }],
    ['a session longer than any', { claims: { sid: 's'.repeat(513) } }],
    ['an unknown key', { header: { kid: 'unknown' } }],
    ['a forged signature', { isForged: true }],
    ['no signature', { isUnsigned: true }],
    ['a signature of another algorithm', { isOfOtherAlgorithm: true }],
  ];
  it.each(refusals)('refuses a logout token with %s', async (_what, changes) => {
    const answer = await logOut(known.sub, {
      ...changes,
      claims: { sid: knownSession, ...changes.claims },
    });
    expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-request' });
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(checksOf(known)).toBe(0);
    expect(await fixture.statusOf(one, known)).toBe(200);
  });

  it('logs 50 refusals of strangers once', async () => {
    const linesIn = () => one.logs().split('logout token refused').length - 1;
    const before = linesIn();
    const body = 'logout_token=x';
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const path = '/v1/auth/backchannel-logout/people';
    const sent = Array.from({ length: 50 }, () => call(one, 'POST', path, { body, headers }));
    expect(new Set((await Promise.all(sent)).map(({ status }) => status))).toEqual(new Set([400]));
    expect(linesIn() - before).toBeLessThanOrEqual(1);
  });

  it('ends the session of the logout token on every replica, and no other of the account', async () => {
    const [here, there] = [randomUUID(), randomUUID()];
    const person = await fixture.keylessLogin(one, randomUUID(), here);
    const again = await fixture.keylessLogin(one, person.sub, there);
    expect(again.accountId).toBe(person.accountId);
    const ends = await connect(other, { token: person.token });
    const stays = await connect(other, { token: again.token });
    await Promise.all([ends.next('hello'), stays.next('hello')]);

    const sessionAlone = { claims: { sub: undefined, sid: here } };
    expect((await logOut(person.sub, sessionAlone, 'guild')).status).toBe(400);
    expect((await logOut(person.sub, { claims: { sub: undefined, sid: 'else' } })).status).toBe(
      200,
    );
    expect(ends.waiting('closing')).toBe(0);
    expect((await logOut(person.sub, sessionAlone)).status).toBe(200);
    expect(await ends.next('closing')).toMatchObject({ code: 'token-revoked' });
    await fixture.until('401', async () => (await fixture.statusOf(other, person)) === 401);
    expect(await fixture.statusOf(other, again)).toBe(200);
    expect(stays.socket.connected).toBe(true);
    expect(checksOf(person)).toBe(0);
    const { rows } = await fixture.sql.query<Json>(
      `SELECT actor, provider, reason, issuer, session_id AS session FROM audit_event
       WHERE account_id = $1 AND kind = 'token-revoked'`,
      [person.accountId],
    );
    const session = sessionIdOf(person.token);
    const { issuer } = fixture.provider;
    expect(rows).toEqual([
      { actor: 'provider', provider: 'people', reason: 'backchannel-logout', issuer, session },
    ]);
    await one.logged(/"reason":"backchannel-logout"/);
    stays.close();
  });

  it('ends a session that a device key began through the provider', async () => {
    const [sub, sid] = [randomUUID(), randomUUID()];
    fixture.provider.add(sub);
    const { url, proof } = await begin(one, 'people');
    const pending = await fixture.pendingOf(one, fixture.provider.authorize(url, sub, sid));
    const login = { provider: 'people', proof };
    const { status, body } = await finalize(one, pending, makeDeviceKey(), login);
    expect(status).toBe(200);
    const keyed = { ...body, sub } as unknown as Person;
    expect(await fixture.statusOf(other, keyed)).toBe(200);
    expect((await logOut(sub, { claims: { sid } })).status).toBe(200);
    await fixture.until('401', async () => (await fixture.statusOf(other, keyed)) === 401);
    await fixture.until('checked', () => checksOf(keyed) === 1);
  });

  it('re-checks the identity of a logout token that has a subject and no session', async () => {
    const person = await fixture.keylessLogin(one, randomUUID(), randomUUID());
    expect((await logOut(person.sub, {})).status).toBe(200);
    await fixture.until('checked', () => checksOf(person) === 1);
    expect(await fixture.statusOf(one, person)).toBe(200);
    fixture.provider.groups.delete(person.sub);
    expect((await logOut(person.sub, {})).status).toBe(200);
    await fixture.until('403', async () => (await fixture.statusOf(other, person)) === 403);
  });

  it.each<[string, Json, number]>([
    ['no type', {}, 400],
    ['the type of other tokens', { typ: 'JWT' }, 400],
    ['the type of logout tokens', { typ: 'logout+jwt' }, 200],
    ['the same as a media type', { typ: 'application/logout+jwt' }, 200],
  ])(
    'checks a logout token with %s, where the provider is configured to send logout+jwt',
    async (_what, header, status) => {
      expect((await logOut(randomUUID(), { header }, 'guild')).status).toBe(status);
      expect((await logOut(randomUUID(), { header })).status).toBe(200);
    },
  );

  it('ends sessions where re-checks are off, and refuses a token without a session', async () => {
    const off = await fixture.start({ ...KEYLESS, AUTH_OFFBOARDING_ENABLED: 'false' });
    const sid = randomUUID();
    const person = await fixture.keylessLogin(off, randomUUID(), sid);
    const logOutThere = async (changes: LogoutTokenChanges): Promise<Answer> =>
      call(off, 'POST', '/v1/auth/backchannel-logout/people', {
        body: new URLSearchParams({
          logout_token: await fixture.provider.logoutToken(person.sub, changes),
        }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
    expect((await logOutThere({})).status).toBe(400);
    expect(await fixture.statusOf(off, person)).toBe(200);
    expect((await logOutThere({ claims: { sid } })).status).toBe(200);
    expect(await fixture.statusOf(off, person)).toBe(401);
  });

  describe('in a rotation of the keys', () => {
    const MANY = 5;
    const logOutAt = async (server: Server, sid: string, header = {}): Promise<Answer> => {
      const changes = { claims: { sub: undefined, sid }, header };
      return call(server, 'POST', '/v1/auth/backchannel-logout/people', {
        body: new URLSearchParams({
          logout_token: await fixture.provider.logoutToken('', changes),
        }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
    };

    it('answers 503 while the keys cannot be read, and accepts the same token afterwards', async () => {
      const server = await fixture.start(env);
      const sid = randomUUID();
      const person = await fixture.keylessLogin(server, randomUUID(), sid);
      await fixture.provider.rotate();
      fixture.provider.areKeysDown = true;
      const refused = await logOutAt(server, sid);
      expect([refused.status, refused.body['code']]).toEqual([503, 'unavailable']);
      expect(refused.headers).toHaveProperty('retry-after');
      fixture.provider.areKeysDown = false;
      expect((await logOutAt(server, sid)).status).toBe(200);
      expect(await fixture.statusOf(server, person)).toBe(401);
    });

    it('lets forged logout tokens stop no login, and forged ID tokens no logout', async () => {
      const server = await fixture.start(env);
      const sid = randomUUID();
      await fixture.keylessLogin(server, randomUUID(), sid);
      const statuses = [];
      for (let sent = 0; sent < MANY; sent += 1) {
        statuses.push((await logOutAt(server, sid, { kid: `invented-${sent}` })).status);
      }
      // The first one is judged by keys that were read for it, and so are as many as may ask for others.
      expect(statuses).toEqual([400, 400, 400, 400, 503]);
      await fixture.provider.rotate();
      const person = await fixture.keylessLogin(server, randomUUID(), sid);
      expect(await fixture.statusOf(server, person)).toBe(200);

      const next = await fixture.start(env);
      const keyed = await fixture.keylessLogin(next, randomUUID(), sid);
      expect((await logOutAt(next, randomUUID())).status).toBe(200);
      fixture.provider.forgesIdTokens = true;
      for (let sent = 0; sent < MANY; sent += 1) {
        await expect(fixture.keylessLogin(next)).rejects.toThrow();
      }
      fixture.provider.forgesIdTokens = false;
      await fixture.provider.rotate();
      expect((await logOutAt(next, sid)).status).toBe(200);
      expect(await fixture.statusOf(next, keyed)).toBe(401);
    });
  });
});
