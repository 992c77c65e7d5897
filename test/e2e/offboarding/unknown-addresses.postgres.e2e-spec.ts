import { randomUUID } from 'node:crypto';
import { RISC, SsfTransmitter, type EventChanges } from '../../fakes/ssf-transmitter.js';
import { KEYLESS, OffboardingFixture } from '../../fixtures/offboarding-fixture.js';
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

describe('events about addresses that no identity has', () => {
  const send = async (type: string, subject: unknown, changes?: EventChanges): Promise<Answer> =>
    call(one, 'POST', '/v1/signals/people', {
      body: await transmitter.event(type, subject, changes),
      headers: { 'content-type': 'application/secevent+jwt' },
    });

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
