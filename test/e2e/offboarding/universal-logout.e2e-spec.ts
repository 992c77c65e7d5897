import { randomUUID } from 'node:crypto';
import type { LogoutTokenChanges } from '../../fakes/people-provider.js';
import { KEYLESS, OffboardingFixture, type Person } from '../../fixtures/offboarding-fixture.js';
import { begin } from '../../fixtures/provider-login-fixture.js';
import { startLocalServer } from '../../helpers/local-server.js';
import { finish } from '../../helpers/keyless-calls.js';
import { connect } from '../../helpers/client-live.js';
import {
  call,
  logIn,
  makeDeviceKey,
  refusalOf,
  type Answer,
  type Json,
} from '../../helpers/client.js';

const ADDRESS = 'http://127.0.0.1:1/v1/signals/people/global-token-revocation';
const APP = 'the-app-of-universal-logout';
const TYPE = 'global-token-revocation+jwt';

const secondsFromNow = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

const providers = (jwksUri = `${fixture.provider.issuer}/jwks`) =>
  fixture.providers({
    signals: {
      globalTokenRevocation: {
        issuer: fixture.provider.issuer,
        subject: APP,
        jwksUri,
      },
    },
  });

const fixture = await OffboardingFixture.open();
const env = {
  ...KEYLESS,
  AUTH_PROVIDERS_CONFIG_JSON: providers(),
  AUTH_ACCESS_CACHE_SECONDS: '15',
};
const one = await fixture.start(env);
const other = await fixture.another(env);
afterAll(() => fixture.close());

describe('universal logout', () => {
  const tokenWith = ({ claims, header, ...changes }: LogoutTokenChanges = {}): Promise<string> =>
    fixture.provider.logoutToken(APP, {
      ...changes,
      claims: { aud: ADDRESS, events: undefined, ...claims },
      header: { typ: TYPE, ...header },
    });
  const send = (token: string, subId: unknown, server = one): Promise<Answer> =>
    call(server, 'POST', '/v1/signals/people/global-token-revocation', {
      token,
      body: { sub_id: subId },
    });
  const subjectOf = ({ sub }: Pick<Person, 'sub'>) => ({
    ...{ format: 'iss_sub', iss: fixture.provider.issuer, sub },
  });

  it('ends every session and socket of the person on both replicas', async () => {
    const person = await fixture.keylessLogin(one);
    const second = await fixture.keylessLogin(one, person.sub);
    const bystander = await fixture.keylessLogin(one);
    const live = await connect(other, { token: person.token });
    await live.next('hello');
    expect(await fixture.statusOf(other, second)).toBe(200);

    const answer = await send(await tokenWith(), subjectOf(person));
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(['token-revoked', 'provider-required']).toContain((await live.next('closing'))['code']);
    for (const login of [person, second]) {
      await fixture.until('401', async () => (await fixture.statusOf(other, login)) === 401);
      expect(await fixture.statusOf(one, login)).toBe(401);
    }
    expect(await fixture.statusOf(other, bystander)).toBe(200);
    const { rows } = await fixture.sql.query<Json>(
      `SELECT kind, actor, reason, issuer FROM audit_event
       WHERE account_id = $1 AND kind IN ('all-tokens-revoked', 'token-revoked') ORDER BY kind`,
      [person.accountId],
    );
    const { issuer } = fixture.provider;
    const by = { actor: 'provider', reason: 'universal-logout', issuer };
    expect(rows).toEqual([
      { kind: 'all-tokens-revoked', ...by },
      { kind: 'token-revoked', ...by },
      { kind: 'token-revoked', ...by },
    ]);
    const again = await fixture.keylessLogin(one, person.sub);
    expect(again.accountId).toBe(person.accountId);
    expect(await fixture.statusOf(other, again)).toBe(200);
  });

  it('demands a login at a required provider, whatever re-checks and the device key say', async () => {
    const server = await fixture.start({
      AUTH_PROVIDERS_CONFIG_JSON: providers(),
      AUTH_ACCESS_CACHE_SECONDS: '0',
    });
    const key = makeDeviceKey();
    const { accountId } = await logIn(server, key);
    const [sub = ''] = await fixture.link([accountId]);
    const person = { ...(await logIn(server, key)), sub };
    expect(await fixture.statusOf(server, person)).toBe(200);
    expect((await send(await tokenWith(), subjectOf(person), server)).status).toBe(204);
    expect(await fixture.statusOf(server, person)).toBe(401);

    const back = { ...(await logIn(server, key)), sub };
    await fixture.makeDue();
    await fixture.until('checked', () => (fixture.provider.checks.get(sub) ?? 0) > 0);
    const refused = await call(server, 'GET', '/v1/push-tokens', { token: back.token });
    expect(refused.body).toMatchObject({ statusCode: 403, code: 'provider-required' });
    const profile = await call(server, 'GET', '/v1/account/profile', { token: back.token });
    expect(profile.text).not.toContain('ineligible');

    expect((await fixture.reconnect(server, back)).status).toBe(200);
    expect(await fixture.statusOf(server, back)).toBe(200);
  });

  it('finds people by subject and by verified e-mail address', async () => {
    const person = await fixture.keylessLogin(one);
    expect((await send(await tokenWith(), { format: 'opaque', id: person.sub })).status).toBe(204);
    await fixture.until('401', async () => (await fixture.statusOf(one, person)) === 401);

    const again = await fixture.keylessLogin(one, person.sub);
    const email = `${person.sub}@example.com`;
    const setEmail = (emailVerified: boolean) =>
      fixture.sql.query(
        `UPDATE identity SET facts = facts || $2 WHERE provider = 'people' AND subject = $1`,
        [person.sub, JSON.stringify({ email: email.toUpperCase(), emailVerified })],
      );
    await setEmail(false);
    expect((await send(await tokenWith(), { format: 'email', email })).status).toBe(404);
    expect(await fixture.statusOf(one, again)).toBe(200);
    await setEmail(true);
    expect((await send(await tokenWith(), { format: 'email', email })).status).toBe(204);
    await fixture.until('401', async () => (await fixture.statusOf(one, again)) === 401);
  });

  it.each<[string, number, unknown]>([
    ['an unknown person', 404, { format: 'opaque', id: 'unknown' }],
    ['a person of another issuer', 404, { format: 'iss_sub', iss: 'https://x.test', sub: 's' }],
    ['no person', 400, undefined],
    ['another format', 400, { format: 'phone_number', phone_number: '+491' }],
    ['a subject with a null character', 400, { format: 'opaque', id: 'a\0b' }],
  ])('answers %s with %d', async (_what, status, subId) => {
    expect((await send(await tokenWith(), subId)).status).toBe(status);
  });

  it.each<[string, LogoutTokenChanges]>([
    ['is unsigned', { isUnsigned: true }],
    ['is forged', { isForged: true }],
    ['has an unknown key', { header: { kid: 'unknown' } }],
    ['is an ID token of an employee', { header: { typ: 'JWT' } }],
    ['has no type', { header: { typ: undefined } }],
    ['is of another issuer', { claims: { iss: 'https://else.example' } }],
    ['is for another address', { claims: { aud: 'http://127.0.0.1:1' } }],
    ['is for several audiences', { claims: { aud: [ADDRESS, 'else'] } }],
    ['has expired', { claims: { exp: secondsFromNow(-60) } }],
    ['does not expire', { claims: { exp: undefined } }],
    ['is valid for too long', { claims: { exp: secondsFromNow(900) } }],
    ['was issued in the future', { claims: { iat: secondsFromNow(120) } }],
    ['is not valid yet', { claims: { nbf: secondsFromNow(120) } }],
    ['has no id', { claims: { jti: undefined } }],
    ['has an empty id', { claims: { jti: '' } }],
  ])('refuses a token that %s', async (_what, changes) => {
    const person = await fixture.keylessLogin(one);
    const answer = await send(await tokenWith(changes), subjectOf(person));
    expect([answer.status, answer.body['code']]).toEqual([401, 'invalid-token']);
    expect(await fixture.statusOf(one, person)).toBe(200);
  });

  it('refuses another application of the issuer with 403, but only by a valid token', async () => {
    const person = await fixture.keylessLogin(one);
    const claims = { sub: 'another-app' };
    const answer = await send(await tokenWith({ claims }), subjectOf(person));
    expect(refusalOf(answer)).toEqual({ status: 403, code: 'insufficient-scope' });
    const forged = await send(await tokenWith({ claims, isForged: true }), subjectOf(person));
    expect(refusalOf(forged)).toEqual({ status: 401, code: 'invalid-token' });
    const unnamed = await send(await tokenWith({ claims: { sub: undefined } }), subjectOf(person));
    expect(refusalOf(unnamed)).toEqual({ status: 401, code: 'invalid-token' });
    expect(await fixture.statusOf(one, person)).toBe(200);
  });

  it('answers 422 while a device key keeps sessions that need no login at the provider', async () => {
    const server = await fixture.start({
      AUTH_PROVIDERS_CONFIG_JSON: providers(),
      AUTH_REQUIRED_LOGIN_PROVIDERS: '',
      AUTH_ACCESS_CACHE_SECONDS: '0',
    });
    const person = await fixture.person(server);
    const { accountId } = person;
    const answer = await send(await tokenWith(), subjectOf(person), server);
    expect(refusalOf(answer)).toEqual({ status: 422, code: 'sessions-remain' });
    expect(await fixture.statusOf(server, person)).toBe(200);
    const signal = await fixture.sql.query<Json>(
      'SELECT source, is_allowed FROM identity_signal WHERE subject = $1',
      [person.sub],
    );
    expect(signal.rows).toEqual([{ source: 'sign-out', is_allowed: false }]);
    const { rows } = await fixture.sql.query<Json>(
      `SELECT kind FROM audit_event WHERE account_id = $1 AND reason = 'universal-logout'`,
      [accountId],
    );
    expect(rows).toEqual([{ kind: 'all-tokens-revoked' }]);

    const expire = `UPDATE session SET expires_at = now() - interval '1 second' WHERE account_id = $1`;
    await fixture.sql.query(expire, [accountId]);
    expect((await send(await tokenWith(), subjectOf(person), server)).status).toBe(204);
  });

  it('answers 422 while another identity keeps a session', async () => {
    const person = await fixture.keylessLogin(one);
    const sub = randomUUID();
    expect((await fixture.connect(one, person, 'guild', sub)).status).toBe(200);
    const { url, proof } = await begin(one, 'guild', { mode: 'keyless' });
    const pending = await fixture.pendingOf(one, fixture.provider.authorize(url, sub));
    const second = (await finish(one, { pending, proof }, 'guild')).body;
    expect(second['accountId']).toBe(person.accountId);
    const answer = await send(await tokenWith(), subjectOf(person));
    expect(refusalOf(answer)).toEqual({ status: 422, code: 'sessions-remain' });
    await fixture.until('401', async () => (await fixture.statusOf(one, person)) === 401);
    const remaining = { token: String(second['token']) };
    expect((await call(one, 'GET', '/v1/push-tokens', remaining)).status).toBe(200);
  });

  it('refuses a request without a token, and other providers', async () => {
    const path = '/v1/signals/people/global-token-revocation';
    const bare = await call(one, 'POST', path, { body: {} });
    expect([bare.status, bare.body['code']]).toEqual([401, 'missing-token']);
    for (const provider of ['unknown', 'github']) {
      const there = path.replace('people', provider);
      const { status } = await call(one, 'POST', there, { token: await tokenWith(), body: {} });
      expect(status).toBe(404);
    }
    const guild = path.replace('people', 'guild');
    expect((await call(one, 'POST', guild, { token: await tokenWith(), body: {} })).status).toBe(
      401,
    );
  });

  it('logs 50 refusals of strangers once', async () => {
    const linesIn = () => one.logs().split('universal logout refused').length - 1;
    const before = linesIn();
    const path = '/v1/signals/people/global-token-revocation';
    const sent = Array.from({ length: 50 }, () =>
      call(one, 'POST', path, { token: 'x', body: {} }),
    );
    expect(new Set((await Promise.all(sent)).map(({ status }) => status))).toEqual(new Set([401]));
    expect(linesIn() - before).toBeLessThanOrEqual(1);
  });

  it('answers 503 while the keys cannot be read, and accepts the same token afterwards', async () => {
    const keys: unknown = await (await fetch(`${fixture.provider.issuer}/jwks`)).json();
    let isDown = true;
    const published = await startLocalServer(() =>
      isDown ? 'server-error' : { status: 200, json: keys },
    );
    const server = await fixture.start({
      ...KEYLESS,
      AUTH_PROVIDERS_CONFIG_JSON: providers(`${published.url}/jwks`),
    });
    const person = await fixture.keylessLogin(server);
    const token = await tokenWith();
    const refused = await send(token, subjectOf(person), server);
    expect([refused.status, refused.body['code']]).toEqual([503, 'unavailable']);
    expect(refused.headers).toHaveProperty('retry-after');
    expect(await fixture.statusOf(server, person)).toBe(200);
    isDown = false;
    expect((await send(token, subjectOf(person), server)).status).toBe(204);
    expect(await fixture.statusOf(server, person)).toBe(401);
    await published.close();
  });

  it('accepts one of 50 simultaneous requests with the same token', async () => {
    const person = await fixture.keylessLogin(one);
    const token = await tokenWith({ claims: { jti: randomUUID() } });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => send(token, subjectOf(person), at % 2 ? one : other)),
    );
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(49);
  });

  it('uses up a token that names an unknown person', async () => {
    const person = await fixture.keylessLogin(one);
    const token = await tokenWith();
    expect((await send(token, { format: 'opaque', id: 'unknown' })).status).toBe(404);
    expect((await send(token, subjectOf(person))).status).toBe(401);
    expect(await fixture.statusOf(one, person)).toBe(200);
  });
});
