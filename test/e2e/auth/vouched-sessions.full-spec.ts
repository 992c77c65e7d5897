import { randomUUID } from 'node:crypto';
import { call, makeDeviceKey, refusalOf, type Answer } from '../../helpers/client.js';
import { connect } from '../../helpers/client-live.js';
import { type Server } from '../../fixtures/programs/server-fixture.js';
import { BEHIND_PROXY, DeviceCalls, type NewDevice } from '../../helpers/device-calls.js';
import { KEYLESS, OffboardingFixture } from '../../fixtures/offboarding-fixture.js';
import { sessionIdOf, tokenOf } from '../../fixtures/sessions-fixture.js';

const STALE = { status: 403, code: 'fresh-login-required' };
const REVOKED = { status: 401, code: 'token-revoked' };

const fixture = await OffboardingFixture.open();
const signUp = { AUTH_SIGNUP_PROVIDERS: 'people', AUTH_ANONYMOUS_SIGNUP_ENABLED: 'true' };
const env = { ...KEYLESS, ...BEHIND_PROXY, ...signUp };
const one = await fixture.start({ ...env, AUTH_ACCESS_CACHE_SECONDS: '0' });
const other = await fixture.start({ ...env, AUTH_ACCESS_CACHE_SECONDS: '60' });
const devices = new DeviceCalls(one);
afterAll(() => fixture.close());

describe('a session that another one vouched for', () => {
  const profile = (server: Server, token: string): Promise<Answer> =>
    call(server, 'GET', '/v1/account/profile', { token });

  const claimed = async (device: NewDevice): Promise<string> =>
    String((await devices.claimInTime(device)).body['token']);

  async function added(token: string): Promise<string> {
    const device = await devices.newDevice();
    expect((await devices.approve(device.id, token)).status).toBe(200);
    return claimed(device);
  }

  /** Every session of the chain is vouched for by the one before. */
  async function chainFrom(token: string, length: number): Promise<string[]> {
    const chain = [token];
    while (chain.length <= length) {
      chain.push(await added(chain.at(-1) ?? ''));
    }
    return chain;
  }

  const setSession = (token: string, assignment: string): Promise<unknown> =>
    fixture.sql.query(`UPDATE session SET ${assignment} WHERE id = $1`, [sessionIdOf(token)]);

  const logOutAt = async (sid: string): Promise<Answer> => {
    const token = await fixture.provider.logoutToken('', { claims: { sub: undefined, sid } });
    return call(one, 'POST', '/v1/auth/backchannel-logout/people', {
      body: new URLSearchParams({ logout_token: token }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  };

  it('ends with the provider session of the first, on every replica and for good', async () => {
    const sid = randomUUID();
    const person = await fixture.keylessLogin(one, randomUUID(), sid);
    const kept = await fixture.keylessLogin(one, person.sub, randomUUID());
    const chain = await chainFrom(person.token, 3);
    for (const token of chain) {
      expect((await profile(other, token)).status).toBe(200);
    }
    const live = await connect(other, { token: chain.at(-1) ?? '' });
    await live.next('hello');
    expect((await logOutAt(sid)).status).toBe(200);
    expect(await live.next('closing')).toMatchObject({ code: 'token-revoked' });
    await fixture.keylessLogin(one, person.sub, randomUUID());
    for (const token of chain) {
      for (const server of [one, other]) {
        await fixture.until('401', async () => (await profile(server, token)).status === 401);
      }
      expect(refusalOf(await profile(one, token))).toEqual(REVOKED);
    }
    expect((await profile(other, kept.token)).status).toBe(200);
  });

  it('ends so when it is claimed at the moment of the logout', async () => {
    const sid = randomUUID();
    const person = await fixture.keylessLogin(one, randomUUID(), sid);
    const waiting: NewDevice[] = [];
    for (let count = 0; count < 10; count += 1) {
      const device = await devices.newDevice();
      expect((await devices.approve(device.id, person.token)).status).toBe(200);
      waiting.push(device);
    }
    const claims = Array.from({ length: 5 }, () => waiting)
      .flat()
      .map(({ id, proof }) => devices.claim(id, proof));
    const [ended, ...answers] = await Promise.all([logOutAt(sid), ...claims]);
    expect(ended.status).toBe(200);
    for (const { body } of answers) {
      if (body['state'] === 'approved') {
        expect(refusalOf(await profile(one, String(body['token'])))).toEqual(REVOKED);
      }
    }
    const { rows } = await fixture.sql.query('SELECT FROM session WHERE account_id = $1', [
      person.accountId,
    ]);
    expect(rows).toEqual([]);
  });

  it('is as old as the first login, through a chain of any length', async () => {
    const key = makeDeviceKey();
    const token = await tokenOf(one, key);
    const device = await devices.newDevice();
    expect((await devices.approve(device.id, token)).status).toBe(200);
    await setSession(token, `created_at = created_at - interval '901 seconds'`);
    const vouched = await claimed(device);
    expect((await profile(one, vouched)).status).toBe(200);
    const next = await devices.newDevice();
    for (const refused of [
      await call(one, 'DELETE', '/v1/account', { token: vouched }),
      await devices.approve(next.id, vouched),
    ]) {
      expect(refusalOf(refused)).toEqual(STALE);
    }
    expect((await devices.approve(next.id, await tokenOf(one, key))).status).toBe(200);

    const chain = await chainFrom(await tokenOf(one, makeDeviceKey()), 3);
    const { rows } = await fixture.sql.query<{ count: number }>(
      `SELECT count(DISTINCT coalesce(authenticated_at, created_at))::int AS count
       FROM session WHERE id = ANY($1)`,
      [chain.map(sessionIdOf)],
    );
    expect(rows).toEqual([{ count: 1 }]);
  });

  it('ends no later than the one that vouched', async () => {
    const token = await tokenOf(one, makeDeviceKey());
    // Certificates shorten sessions.
    await setSession(
      token,
      `expires_at = date_trunc('second', now()) + interval '1 hour', certificate = '{}'`,
    );
    const [, ...chain] = await chainFrom(token, 2);
    const { rows } = await fixture.sql.query<{ count: number }>(
      `SELECT count(DISTINCT expires_at)::int AS count FROM session WHERE id = ANY($1)`,
      [[token, ...chain].map(sessionIdOf)],
    );
    expect(rows).toEqual([{ count: 1 }]);
    const [, payload = ''] = (chain.at(-1) ?? '').split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { exp: number };
    expect(claims.exp * 1000).toBeLessThanOrEqual(Date.now() + 3_600_000);
  });

  it('ends no later than a session whose client chose a shorter lifetime, and may choose its own', async () => {
    const client = { sessionSeconds: 600 };
    const token = await tokenOf(one, makeDeviceKey(), { client });
    const [, ...chain] = await chainFrom(token, 2);
    const { rows } = await fixture.sql.query<{ count: number }>(
      `SELECT count(DISTINCT expires_at)::int AS count FROM session WHERE id = ANY($1)`,
      [[token, ...chain].map(sessionIdOf)],
    );
    expect(rows).toEqual([{ count: 1 }]);
    const device = await devices.newDevice();
    await devices.approve(device.id, token);
    const short = await devices.claim(device.id, device.proof, { client: { sessionSeconds: 60 } });
    const [, payload = ''] = String(short.body['token']).split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { exp: number };
    expect(claims.exp * 1000).toBeLessThanOrEqual(Date.now() + 60_000);
  });

  it('is approved ten times an hour, whatever the replica and however many ask at once', async () => {
    const { token } = await fixture.keylessLogin(one);
    const waiting = await Promise.all(Array.from({ length: 50 }, () => devices.newDevice()));
    const there = new DeviceCalls(other);
    const answers = await Promise.all(
      waiting.map(({ id }, index) => (index % 2 === 0 ? devices : there).approve(id, token)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(new Set(refused.map(({ body }) => body['code']))).toEqual(new Set(['rate-limited']));
    for (const { headers } of refused) {
      const seconds = Number(headers['retry-after']);
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(3600);
    }
    const at = answers.findIndex(({ status }) => status === 429);
    const rolledBack = waiting[at] as NewDevice;
    expect((await devices.claim(rolledBack.id, rolledBack.proof)).body['state']).toBe('pending');
  });
});
