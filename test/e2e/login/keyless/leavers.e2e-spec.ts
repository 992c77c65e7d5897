import { randomUUID } from 'node:crypto';
import { call, refusalOf } from '../../../helpers/client.js';
import { connect, refusedConnect } from '../../../helpers/client-live.js';
import { finish } from '../../../helpers/keyless-calls.js';
import { waitFor } from '../../../helpers/wait.js';
import { KEYLESS, OffboardingFixture, type Person } from '../../../fixtures/offboarding-fixture.js';

const fixture = await OffboardingFixture.open();
const { entry } = fixture.provider;
// A message between replicas ends a connection before its next regular check.
const env = {
  ...KEYLESS,
  AUTH_ACCESS_CACHE_SECONDS: '15',
  AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify([
    entry,
    { ...entry, id: 'guild', logoutTokenType: 'logout+jwt' },
    // It admits everyone, and opens no account without a device key.
    { ...entry, id: 'social', allow: {} },
  ]),
};
const one = await fixture.start(env);
const other = await fixture.another(env);
afterAll(() => fixture.close());

describe('leaving the only provider of an account, where none is required', () => {
  const statuses = async (person: Person): Promise<number[]> => [
    await fixture.statusOf(one, person),
    await fixture.statusOf(other, person),
  ];

  it('ends access on every replica, and restores it without a login', async () => {
    const person = await fixture.keylessLogin(one);
    const live = await connect(other, { token: person.token });
    await live.next('hello');
    expect(await statuses(person)).toEqual([200, 200]);

    fixture.provider.groups.set(person.sub, ['alumni']);
    await fixture.makeDue();
    const refusal = { statusCode: 403, code: 'not-eligible', provider: 'people' };
    expect(await live.next('closing')).toMatchObject(refusal);
    expect(await live.disconnected).toBe('io server disconnect');
    await fixture.until('403 on both', async () =>
      (await statuses(person)).every((status) => status === 403),
    );
    const refused = await call(one, 'GET', '/v1/push-tokens', { token: person.token });
    expect(refused.body).toMatchObject(refusal);
    expect((await refusedConnect(one, { token: person.token })).message).toBe('not-eligible');
    for (const path of ['/v1/account/profile', '/v1/connect/external/guild/params']) {
      expect((await call(one, 'GET', path, { token: person.token })).status).toBe(200);
    }

    fixture.provider.groups.set(person.sub, ['staff']);
    await fixture.makeDue();
    await fixture.until('access returns', async () =>
      (await statuses(person)).every((status) => status === 200),
    );
  });

  it('ends access with the last of two identities, not with the first', async () => {
    const person = await fixture.keylessLogin(one);
    const guest = randomUUID();
    expect((await fixture.connect(one, person, 'guild', guest)).status).toBe(200);
    const live = await connect(other, { token: person.token });
    await live.next('hello');

    fixture.provider.groups.delete(person.sub);
    await fixture.makeDue();
    const stateOf = async (): Promise<unknown> =>
      (await call(one, 'GET', '/v1/account/profile', person)).body['identities'];
    await fixture.until('one is lost', async () =>
      JSON.stringify(await stateOf()).includes('"ineligible"'),
    );
    expect(await statuses(person)).toEqual([200, 200]);
    expect(live.socket.connected).toBe(true);

    fixture.provider.groups.delete(guest);
    await fixture.makeDue();
    expect(await live.next('closing')).toMatchObject({ code: 'not-eligible' });
    await fixture.until('403 on both', async () =>
      (await statuses(person)).every((status) => status === 403),
    );
  });

  it('re-admits a removed account that connects an eligible identity', async () => {
    const person = await fixture.keylessLogin(one);
    fixture.provider.groups.delete(person.sub);
    await fixture.makeDue();
    await fixture.until('403', async () => (await fixture.statusOf(one, person)) === 403);
    expect((await fixture.connect(one, person, 'guild', randomUUID())).status).toBe(200);
    await fixture.until('served', async () => (await fixture.statusOf(other, person)) === 200);
  });

  it('ends access although an identity is eligible that cannot sign in without a device key', async () => {
    const person = await fixture.keylessLogin(one);
    const guest = randomUUID();
    expect((await fixture.connect(one, person, 'social', guest)).status).toBe(200);
    expect(await statuses(person)).toEqual([200, 200]);
    fixture.provider.groups.delete(person.sub);
    await fixture.makeDue();
    await fixture.until('403 on both', async () =>
      (await statuses(person)).every((status) => status === 403),
    );
    expect((await fixture.reconnect(one, { ...person, sub: guest }, 'social')).status).toBe(200);
    expect(await statuses(person)).toEqual([403, 403]);
  });

  it('ends access at a login that the provider refuses, also where the clock was set back', async () => {
    const person = await fixture.keylessLogin(one);
    await fixture.sql.query(
      `UPDATE identity SET eligibility_checked_at = now() + interval '1 hour' WHERE subject = $1`,
      [person.sub],
    );
    const live = await connect(other, { token: person.token });
    await live.next('hello');
    fixture.provider.groups.set(person.sub, ['alumni']);
    await expect(fixture.keylessLogin(one, person.sub)).rejects.toThrow('invalid-request');
    expect(await live.next('closing')).toMatchObject({ code: 'not-eligible', provider: 'people' });
    const refused = await call(other, 'GET', '/v1/push-tokens', { token: person.token });
    expect(refusalOf(refused)).toEqual({ status: 403, code: 'not-eligible' });
  });

  it('checks a person whom a signal named, whatever earlier logins are finished meanwhile', async () => {
    const person = await fixture.keylessLogin(one);
    const held = await fixture.provenLogin(one, person.sub);
    fixture.provider.groups.set(person.sub, ['alumni']);
    fixture.provider.delayMs = 1000;
    const logoutToken = await fixture.provider.logoutToken(person.sub);
    const signal = await call(one, 'POST', '/v1/auth/backchannel-logout/people', {
      body: new URLSearchParams({ logout_token: logoutToken }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(signal.status).toBe(200);
    await finish(one, held, 'people');
    fixture.provider.delayMs = 0;
    await fixture.until('the account is refused', async () =>
      (await statuses(person)).every((status) => status === 403),
    );
  });

  it('finishes no login from before the account was deleted', async () => {
    const person = await fixture.keylessLogin(one);
    const held = await fixture.provenLogin(one, person.sub);
    expect((await call(one, 'DELETE', '/v1/account', person)).status).toBe(200);
    const late = await finish(one, held, 'people');
    expect(refusalOf(late)).toEqual({ status: 403, code: 'provider-required' });
    expect(await fixture.statusOf(one, await fixture.keylessLogin(one, person.sub))).toBe(200);
  });

  it('finishes no first login from before the provider refused the person', async () => {
    const sub = randomUUID();
    const held = await fixture.provenLogin(one, sub);
    fixture.provider.groups.set(sub, ['alumni']);
    await expect(fixture.keylessLogin(one, sub)).rejects.toThrow('invalid-request');
    const late = await finish(one, held, 'people');
    expect(refusalOf(late)).toEqual({ status: 403, code: 'provider-required' });
  });

  it('checks an identity once in each interval, and a login starts a new interval', async () => {
    const person = await fixture.keylessLogin(one);
    const eligibility = async () => {
      const { body } = await call(one, 'GET', '/v1/account/profile', person);
      expect(body['identities']).toMatchObject([{ eligibility: { status: 'eligible' } }]);
      const [identity] = body['identities'] as [
        { eligibility: { checkedAt: number; nextCheckAt: number } },
      ];
      return identity.eligibility;
    };
    const first = await eligibility();
    expect(first.nextCheckAt - first.checkedAt).toBeGreaterThanOrEqual(1_800_000);
    expect(first.nextCheckAt - first.checkedAt).toBeLessThanOrEqual(3_600_000);
    await fixture.keylessLogin(one, person.sub);
    const again = await eligibility();
    expect(again.nextCheckAt - again.checkedAt).toBe(3_600_000);
    await fixture.makeDue();
    await waitFor('a check', async () => (await eligibility()).checkedAt > again.checkedAt);
    const checked = await eligibility();
    // The interval lasts from the start of a check to the start of the next one.
    expect(checked.nextCheckAt - checked.checkedAt).toBeLessThanOrEqual(3_600_000);
    expect(checked.nextCheckAt - again.checkedAt).toBeGreaterThanOrEqual(3_600_000);
  });
});
