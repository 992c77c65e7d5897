import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CAEP, SsfTransmitter } from '../../fakes/ssf-transmitter.js';
import { KEYLESS, OffboardingFixture, type Person } from '../../fixtures/offboarding-fixture.js';
import { PROGRAM_ENV, PROGRAMS, programTokens, refresh } from '../../fixtures/programs-fixture.js';
import { backends } from '../../fixtures/resource-server-fixture.js';
import { connect } from '../../helpers/client-live.js';
import { call, refusalOf } from '../../helpers/client.js';
import { finish } from '../../helpers/keyless-calls.js';

const AUDIENCE = 'https://gate.example.com';
const LOGOUT = `${AUDIENCE}/v1/signals/people/global-token-revocation`;
const APP = 'the-app-of-universal-logout';

const fixture = await OffboardingFixture.open();
const transmitter = await SsfTransmitter.start(AUDIENCE);
const { issuer } = fixture.provider;
const AUTH_PROVIDERS_CONFIG_JSON = fixture.providers({
  signals: {
    sharedSignals: { transmitter: transmitter.issuer, audience: AUDIENCE },
    globalTokenRevocation: { issuer, subject: APP, jwksUri: `${issuer}/jwks` },
  },
});
const setup = backends([{ id: 'notes', programs: PROGRAMS }]);
const server = await fixture.start({
  ...KEYLESS,
  ...setup.env,
  ...PROGRAM_ENV,
  AUTH_PROVIDERS_CONFIG_JSON,
  AUTH_ACCESS_CACHE_SECONDS: '0',
});
afterAll(async () => {
  await fixture.close();
  await transmitter.close();
});

interface Proven {
  readonly sub: string;
  readonly sid: string;
  readonly email: string;
}

const newPerson = (): Proven => {
  const sub = randomUUID();
  const email = `Ada.${sub}@example.com`;
  fixture.provider.emails.set(sub, { email, isVerified: true });
  return { sub, sid: randomUUID(), email };
};

const report = async (event: string, subject: unknown, secondsAgo = 0): Promise<number> => {
  const claims = { iat: Math.floor(Date.now() / 1000) - secondsAgo };
  const { status } = await call(server, 'POST', '/v1/signals/people', {
    body: await transmitter.event(`${CAEP}${event}`, subject, { claims }),
    headers: { 'content-type': 'application/secevent+jwt' },
  });
  return status;
};
const revoke = (subject: unknown, secondsAgo = 0): Promise<number> =>
  report('session-revoked', subject, secondsAgo);
const bySubject = ({ sub }: Pick<Proven, 'sub'>) => ({ format: 'iss_sub', iss: issuer, sub });
const byEmail = ({ email }: Proven) => ({ format: 'email', email: email.toUpperCase() });

const logOutEverywhere = async (identifier: unknown): Promise<number> => {
  const token = await fixture.provider.logoutToken(APP, {
    claims: { aud: LOGOUT, events: undefined },
    header: { typ: 'global-token-revocation+jwt' },
  });
  const request = { token, body: { sub_id: identifier } };
  return (await call(server, 'POST', '/v1/signals/people/global-token-revocation', request)).status;
};

const logOut = async (claims: { sub?: string | undefined; sid?: string }): Promise<number> => {
  const token = await fixture.provider.logoutToken('', { claims: { sub: undefined, ...claims } });
  const { status } = await call(server, 'POST', '/v1/auth/backchannel-logout/people', {
    body: new URLSearchParams({ logout_token: token }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  return status;
};

const endSession = ({ sid }: Proven): Promise<number> => logOut({ sid });

describe('a sign-out between the answer of the provider and the end of a login', () => {
  const signOuts: [string, (person: Proven) => Promise<number>, number][] = [
    ['an event about the subject', (person) => revoke(bySubject(person)), 202],
    ['an event about the address', (person) => revoke(byEmail(person)), 202],
    [
      'an event about two spellings of the address',
      (person) => {
        const identifiers = [byEmail(person), { format: 'email', email: person.email }];
        return revoke({ format: 'aliases', identifiers });
      },
      202,
    ],
    [
      'an event about the session',
      (person) =>
        revoke({ user: bySubject(person), session: { format: 'opaque', id: person.sid } }),
      202,
    ],
    ['universal logout by the subject', (person) => logOutEverywhere(bySubject(person)), 404],
    ['universal logout by the address', (person) => logOutEverywhere(byEmail(person)), 404],
    ['a logout token', endSession, 200],
  ];
  it.each(signOuts)('refuses a first login after %s', async (_what, signOut, status) => {
    const person = newPerson();
    const proven = await fixture.provenLogin(server, person.sub, person.sid);
    expect(await signOut(person)).toBe(status);
    const late = await finish(server, proven, 'people');
    expect(refusalOf(late)).toEqual({ status: 403, code: 'provider-required' });
    const again = await fixture.keylessLogin(server, person.sub, randomUUID());
    expect(await fixture.statusOf(server, again)).toBe(200);
  });

  it.each(signOuts)('refuses a later login after %s', async (_what, signOut) => {
    const person = newPerson();
    const known = await fixture.keylessLogin(server, person.sub, randomUUID());
    const proven = await fixture.provenLogin(server, person.sub, person.sid);
    expect(await signOut(person)).toBeLessThan(300);
    const late = await finish(server, proven, 'people');
    expect(refusalOf(late)).toEqual({ status: 403, code: 'provider-required' });
    const again = await fixture.keylessLogin(server, person.sub, randomUUID());
    expect(again.accountId).toBe(known.accountId);
    expect(await fixture.statusOf(server, again)).toBe(200);
  });

  it('leaves no session of 50 people who are signed out while their first login is finished', async () => {
    const people = Array.from({ length: 50 }, newPerson);
    const proven = await Promise.all(
      people.map(({ sub, sid }) => fixture.provenLogin(server, sub, sid)),
    );
    const [, logins] = await Promise.all([
      Promise.all(
        people.map((person, at) => revoke(at % 2 === 0 ? bySubject(person) : byEmail(person))),
      ),
      Promise.all(proven.map((one) => finish(server, one, 'people'))),
    ]);
    for (const { status, body } of logins) {
      expect([200, 403]).toContain(status);
      if (status === 200) {
        expect(await fixture.statusOf(server, body as unknown as Person)).toBe(401);
      }
    }
  });
});

describe('a signal to check a person between the answer of the provider and the end of a first login', () => {
  const signals: [string, (person: Proven) => Promise<number>][] = [
    ['a logout token', ({ sub }) => logOut({ sub })],
    ['an event about the subject', (person) => report('credential-change', bySubject(person))],
    ['an event about the address', (person) => report('credential-change', byEmail(person))],
  ];
  const leave = ({ sub }: Proven): void => void fixture.provider.groups.set(sub, ['alumni']);

  it.each(signals)('is checked after the login: %s', async (_what, signal) => {
    const person = newPerson();
    const proven = await fixture.provenLogin(server, person.sub);
    leave(person);
    expect(await signal(person)).toBeLessThan(300);
    const { status, body } = await finish(server, proven, 'people');
    expect(status).toBe(200);
    const login = body as unknown as Person;
    await fixture.until('refused', async () => (await fixture.statusOf(server, login)) === 403);
  });

  it('misses none of 50 people who are reported while their login is finished', async () => {
    const people = Array.from({ length: 50 }, newPerson);
    const proven = await Promise.all(people.map(({ sub }) => fixture.provenLogin(server, sub)));
    people.forEach(leave);
    const [, logins] = await Promise.all([
      Promise.all(people.map(async (person, at) => signals[at % signals.length]?.[1](person))),
      Promise.all(proven.map((one, at) => sleep(at).then(() => finish(server, one, 'people')))),
    ]);
    for (const { body } of logins) {
      const login = body as unknown as Person;
      await fixture.until('refused', async () => (await fixture.statusOf(server, login)) === 403);
    }
  });
});

describe('a sign-out that arrives hours late', () => {
  it('ends the programs that a login from before it approved, and none of a newer login', async () => {
    const person = newPerson();
    const older = await fixture.keylessLogin(server, person.sub);
    const ended = await programTokens(server, older.token);
    await fixture.sql.query(
      `UPDATE program_grant SET authenticated_at = now() - interval '4 hours'
       WHERE account_id = $1`,
      [older.accountId],
    );
    await call(server, 'POST', '/v1/auth/logout', { token: older.token });
    const newer = await fixture.keylessLogin(server, person.sub);
    const kept = await programTokens(server, newer.token);
    expect(await revoke(bySubject(person), 3 * 3600)).toBe(202);
    expect((await refresh(server, ended.refresh)).body['error']).toBe('invalid_grant');
    expect((await refresh(server, kept.refresh)).status).toBe(200);
  });

  it.each([
    ['the subject', bySubject],
    ['the address', byEmail],
  ])('ends the sessions from before it by %s, and none of a newer login', async (_what, named) => {
    const person = newPerson();
    const { sub } = person;
    const older = await fixture.keylessLogin(server, sub);
    await fixture.sql.query(
      `UPDATE session SET authenticated_at = now() - interval '4 hours' WHERE account_id = $1`,
      [older.accountId],
    );
    const newer = await fixture.keylessLogin(server, sub);
    const live = await connect(server, { token: newer.token });
    await live.next('hello');
    expect(await revoke(named(person), 3 * 3600)).toBe(202);
    expect(await fixture.statusOf(server, older)).toBe(401);
    expect(await fixture.statusOf(server, newer)).toBe(200);
    expect(live.waiting('closing')).toBe(0);
    expect(live.socket.connected).toBe(true);
    live.close();

    expect(await revoke(named(person), 60)).toBe(202);
    expect(await fixture.statusOf(server, newer)).toBe(401);
  });

  it('ends the sessions of a person who has not logged in since', async () => {
    const { sub } = newPerson();
    const person = await fixture.keylessLogin(server, sub);
    await fixture.sql.query(
      `UPDATE identity_signal SET at = at - interval '4 hours' WHERE subject = $1`,
      [sub],
    );
    expect(await revoke(bySubject({ sub }), 3 * 3600)).toBe(202);
    expect(await fixture.statusOf(server, person)).toBe(401);
    const again = await fixture.keylessLogin(server, sub);
    expect(await fixture.statusOf(server, again)).toBe(200);
  });
});
