import { randomUUID } from 'node:crypto';
import { RISC, SsfTransmitter, type EventChanges } from '../../fakes/ssf-transmitter.js';
import { KEYLESS, OffboardingFixture, type Person } from '../../fixtures/offboarding-fixture.js';
import { begin } from '../../fixtures/provider-login-fixture.js';
import { call, type Answer } from '../../helpers/client.js';
import { finish } from '../../helpers/keyless-calls.js';

const AUDIENCE = 'https://gate.example.com';
const DISABLED = `${RISC}account-disabled`;
const ENABLED = `${RISC}account-enabled`;

const fixture = await OffboardingFixture.open();
const transmitter = await SsfTransmitter.start(AUDIENCE);
const sharedSignals = { transmitter: transmitter.issuer, audience: AUDIENCE };
const AUTH_PROVIDERS_CONFIG_JSON = fixture.providers({ signals: { sharedSignals } });
const one = await fixture.start({ ...KEYLESS, AUTH_PROVIDERS_CONFIG_JSON });
afterAll(async () => {
  await fixture.close();
  await transmitter.close();
});

const send = async (type: string, subject: unknown, changes?: EventChanges): Promise<Answer> =>
  call(one, 'POST', '/v1/signals/people', {
    body: await transmitter.event(type, subject, changes),
    headers: { 'content-type': 'application/secevent+jwt' },
  });

describe('events about addresses that no identity has', () => {
  it('keeps a disabled person out who had never logged in, by the verified address alone', async () => {
    const [sub, another] = [randomUUID(), randomUUID()];
    const email = `Ada.${sub}@example.com`;
    const subject = { format: 'email', email: email.toUpperCase() };
    fixture.provider.emails.set(sub, { email, isVerified: true });
    fixture.provider.emails.set(another, { email, isVerified: false });
    const claims = { iat: Math.floor(Date.now() / 1000) - 5, txn: randomUUID() };
    expect((await send(DISABLED, subject, { claims })).status).toBe(202);
    const audited = await fixture.sql.query(
      'SELECT kind, account_id, subject, issuer FROM audit_event WHERE signal_txn = $1',
      [claims.txn],
    );
    const by = { account_id: null, subject: subject.email, issuer: transmitter.issuer };
    expect(audited.rows).toEqual([{ kind: 'eligibility-lost', ...by }]);
    const person = await fixture.keylessLogin(one, another);
    expect(await fixture.statusOf(one, person)).toBe(200);
    await expect(fixture.keylessLogin(one, sub)).rejects.toThrow();
    await expect(fixture.keylessLogin(one, sub)).rejects.toThrow();
    expect((await send(ENABLED, subject)).status).toBe(202);
    await fixture.keylessLogin(one, sub);
    const { rows } = await fixture.sql.query('SELECT 1 FROM email_signal');
    expect(rows).toEqual([]);
  });

  it('refuses a login whose address was disabled after the proof', async () => {
    const sub = randomUUID();
    const email = `${sub}@example.com`;
    fixture.provider.add(sub);
    fixture.provider.emails.set(sub, { email, isVerified: true });
    const { url, proof } = await begin(one, 'people', { mode: 'keyless' });
    const pending = await fixture.pendingOf(one, fixture.provider.authorize(url, sub));
    expect((await send(DISABLED, { format: 'email', email })).status).toBe(202);
    const late = await finish(one, { pending, proof }, 'people');
    expect([late.status, late.body['code']]).toEqual([403, 'not-eligible']);
    await expect(fixture.keylessLogin(one, sub)).rejects.toThrow();
  });

  it('finishes no login with an address that was recycled after the proof', async () => {
    const sub = randomUUID();
    const email = `${sub}@example.com`;
    fixture.provider.emails.set(sub, { email, isVerified: true });
    const proven = await fixture.provenLogin(one, sub);
    const recycled = await send(`${RISC}identifier-recycled`, { format: 'email', email });
    expect(recycled.status).toBe(202);
    const late = await finish(one, proven, 'people');
    expect([late.status, late.body['code']]).toEqual([403, 'provider-required']);
    await fixture.keylessLogin(one, sub);
  });

  it('forgets the refusal of an address that was recycled', async () => {
    const sub = randomUUID();
    const email = `${sub}@example.com`;
    fixture.provider.emails.set(sub, { email, isVerified: true });
    expect((await send(DISABLED, { format: 'email', email })).status).toBe(202);
    const recycled = await send(`${RISC}identifier-recycled`, { format: 'email', email });
    expect(recycled.status).toBe(202);
    await fixture.keylessLogin(one, sub);
  });
});

describe('an address that a re-check does not repeat', () => {
  const logIn = async (isVerified = true) => {
    const sub = randomUUID();
    const email = `${sub}@example.com`;
    fixture.provider.emails.set(sub, { email, isVerified });
    const person = await fixture.keylessLogin(one, sub);
    fixture.provider.emails.delete(sub);
    return { sub, email, person };
  };

  it('stands for the person, whom an event about it disables', async () => {
    const { sub, email, person } = await logIn();
    await fixture.recheck(sub);
    expect((await send(DISABLED, { format: 'email', email })).status).toBe(202);
    expect(await fixture.statusOf(one, person)).toBe(401);
  });

  it('is not taken for verified, and is forgotten when it is recycled', async () => {
    const unverified = await logIn(false);
    await fixture.recheck(unverified.sub);
    const recycled = await logIn();
    const { email } = recycled;
    await send(`${RISC}identifier-recycled`, { format: 'email', email });
    await fixture.recheck(recycled.sub);
    for (const subject of [unverified.email, email]) {
      await send(DISABLED, { format: 'email', email: subject });
    }
    expect(await fixture.statusOf(one, unverified.person)).toBe(200);
    expect(await fixture.statusOf(one, recycled.person)).toBe(200);
  });
});

describe('events about addresses that get other owners', () => {
  const newEmail = (): string => `${randomUUID()}@example.com`;
  const logIn = (email: string, sub: string = randomUUID()): Promise<Person> => {
    fixture.provider.emails.set(sub, { email, isVerified: true });
    return fixture.keylessLogin(one, sub);
  };
  const mayLogIn = (email: string, sub?: string): Promise<boolean> =>
    logIn(email, sub).then(
      () => true,
      () => false,
    );
  const secondsAgo = (seconds: number): EventChanges => ({
    claims: { iat: Math.floor(Date.now() / 1000) - seconds },
  });
  const about = async (type: string, email: string, changes: EventChanges): Promise<void> => {
    expect((await send(type, { format: 'email', email }, changes)).status).toBe(202);
  };

  it('readmits no leaver when the next owner is enabled, and disables the next owner alone', async () => {
    const email = newEmail();
    const leaver = await logIn(email);
    await about(DISABLED, email, secondsAgo(50));
    expect(await fixture.statusOf(one, leaver)).not.toBe(200);
    await about(ENABLED, email, secondsAgo(40));
    expect(await mayLogIn(newEmail(), leaver.sub)).toBe(false);
    const owner = await logIn(email);
    expect(await mayLogIn(email, leaver.sub)).toBe(false);
    await about(DISABLED, email, secondsAgo(30));
    expect(await fixture.statusOf(one, owner)).not.toBe(200);
    expect(await mayLogIn(email, owner.sub)).toBe(false);
    const { rows } = await fixture.sql.query(
      `SELECT account_id FROM audit_event WHERE kind = 'eligibility-lost' AND subject = ANY($1)`,
      [[leaver.sub, owner.sub]],
    );
    expect(rows.map(({ account_id: id }: { account_id?: string }) => id).sort()).toEqual(
      [leaver.accountId, owner.accountId].sort(),
    );
  });

  it('refuses the next owner who is disabled before a first login', async () => {
    const email = newEmail();
    const leaver = await logIn(email);
    await about(DISABLED, email, secondsAgo(50));
    await about(DISABLED, email, secondsAgo(40));
    expect(await mayLogIn(email)).toBe(false);
    expect(await mayLogIn(newEmail(), leaver.sub)).toBe(false);
  });

  it('readmits a person by a login that proves the address again', async () => {
    const email = newEmail();
    const person = await logIn(email);
    await about(DISABLED, email, secondsAgo(50));
    await about(ENABLED, email, secondsAgo(40));
    expect(await fixture.statusOf(one, person)).not.toBe(200);
    const again = await logIn(email, person.sub);
    expect(await fixture.statusOf(one, again)).toBe(200);
    await about(DISABLED, email, secondsAgo(45));
    expect(await fixture.statusOf(one, again)).toBe(200);
  });

  it('readmits no person by a login from before the event', async () => {
    const email = newEmail();
    const person = await logIn(email);
    const proven = await fixture.provenLogin(one, person.sub);
    await about(DISABLED, email, secondsAgo(50));
    await about(ENABLED, email, secondsAgo(-100));
    const late = await finish(one, proven, 'people');
    expect([late.status, late.body['code']]).toEqual([403, 'not-eligible']);
  });

  it('disables both subjects of an address, and readmits none by it', async () => {
    const email = newEmail();
    const people = [await logIn(email), await logIn(email)];
    const txn = randomUUID();
    const { claims } = secondsAgo(50);
    await about(DISABLED, email, { claims: { ...claims, txn } });
    for (const person of people) {
      expect(await fixture.statusOf(one, person)).not.toBe(200);
    }
    const audited = await fixture.sql.query(
      `SELECT kind, reason FROM audit_event WHERE signal_txn = $1 AND kind <> 'token-revoked'`,
      [txn],
    );
    const lost = { kind: 'eligibility-lost', reason: 'ambiguous' };
    expect(audited.rows).toEqual([lost, lost]);
    await about(ENABLED, email, secondsAgo(40));
    for (const { sub } of people) {
      expect(await mayLogIn(email, sub)).toBe(false);
    }
  });

  it('disables each subject of an address once by 50 events at once', async () => {
    const email = newEmail();
    const people = [await logIn(email), await logIn(email)];
    await Promise.all(
      Array.from({ length: 50 }, (_, at) => about(DISABLED, email, secondsAgo(60 + at))),
    );
    const { rows } = await fixture.sql.query(
      `SELECT count(*)::int FROM audit_event WHERE kind = 'eligibility-lost' AND account_id = ANY($1)
       GROUP BY account_id`,
      [people.map(({ accountId }) => accountId)],
    );
    expect(rows).toEqual([{ count: 1 }, { count: 1 }]);
  });
});
