import { call } from '../helpers/client.js';
import { connect } from '../helpers/client-live.js';
import { IS_POSTGRES, type Server } from '../helpers/server.js';
import { OffboardingWorld } from './offboarding-world.js';

const withServices = IS_POSTGRES ? describe : describe.skip;
withServices('leaving a required provider (needs PostgreSQL and Redis)', () => {
  let world: OffboardingWorld;
  let one: Server;
  let other: Server;

  beforeAll(async () => {
    world = await OffboardingWorld.open();
    one = await world.start();
    other = await world.start();
  });
  afterAll(() => world.close());

  const signal = async (server: Server, sub: string) => {
    const form = new URLSearchParams({ logout_token: await world.provider.logoutToken(sub) });
    return call(server, 'POST', '/v1/auth/backchannel-logout/people', {
      body: form.toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  };

  it('ends access on every replica at the signal, and restores it without a login', async () => {
    const person = await world.person(one);
    const live = await connect(other, { token: person.token });
    await live.next('hello');
    expect(await world.statusOf(one, person)).toBe(200);
    expect(await world.statusOf(other, person)).toBe(200);

    world.provider.groups.set(person.sub, ['alumni']);
    const answer = await signal(one, person.sub);
    expect({ status: answer.status, text: answer.text }).toEqual({ status: 200, text: '' });
    expect(answer.headers['cache-control']).toBe('no-store');
    const closing = await live.next('closing');
    await world.until('403 on both', async () => {
      const statuses = [await world.statusOf(one, person), await world.statusOf(other, person)];
      return statuses.every((status) => status === 403);
    });
    expect(closing).toMatchObject({ statusCode: 403, code: 'not-eligible', provider: 'people' });
    expect(await live.disconnected).toBe('io server disconnect');
    const profile = await call(other, 'GET', '/v1/account/profile', person);
    expect(profile.body).toMatchObject({
      identities: [{ eligibility: { status: 'ineligible', reason: 'group_missing' } }],
    });

    world.provider.groups.set(person.sub, ['staff']);
    await signal(other, person.sub);
    await world.until('access returns', async () => (await world.statusOf(one, person)) === 200);
    await world.until('access returns', async () => (await world.statusOf(other, person)) === 200);
    const { rows } = await world.sql.query(
      `SELECT kind, actor, provider, reason FROM audit_event
       WHERE account_id = $1 AND kind LIKE 'eligibility-%' ORDER BY id`,
      [person.accountId],
    );
    const trace = { actor: 'provider', provider: 'people' };
    expect(rows).toEqual([
      { ...trace, kind: 'eligibility-lost', reason: 'group_missing' },
      { ...trace, kind: 'eligibility-regained', reason: null },
    ]);
  });

  it('is found out by the schedule alone, and a dead refresh token is a no', async () => {
    const person = await world.person(one);
    const live = await connect(other, { token: person.token });
    world.provider.groups.delete(person.sub);
    await world.makeDue();
    expect(await live.next('closing')).toMatchObject({ code: 'not-eligible' });
    expect(await world.statusOf(one, person)).toBe(403);
  });

  it('keeps the newest refresh token through many re-checks', async () => {
    const person = await world.person(one);
    for (let round = 1; round <= 4; round += 1) {
      await signal(round % 2 === 0 ? one : other, person.sub);
      await world.until(`check ${round}`, async () => {
        const { rows } = await world.sql.query<{ done: boolean }>(
          `SELECT eligibility_next_check_at > now() AND lease_until IS NULL AS done
             FROM identity WHERE subject = $1`,
          [person.sub],
        );
        return rows[0]?.done === true && (world.provider.checks.get(person.sub) ?? 0) >= round;
      });
    }
    expect(await world.statusOf(one, person)).toBe(200);
  });

  it('checks a crowd once each, with two replicas at it', async () => {
    const subs = await world.crowd(600);
    await world.until('all checked', () =>
      subs.every((sub) => (world.provider.checks.get(sub) ?? 0) > 0),
    );
    expect(subs.filter((sub) => world.provider.checks.get(sub) !== 1)).toEqual([]);
    await world.until('all stored', async () => {
      const due = await world.sql.query(
        `SELECT 1 FROM identity WHERE lease_until IS NOT NULL OR eligibility_next_check_at <= now()`,
      );
      return due.rowCount === 0;
    });
    expect(subs.filter((sub) => world.provider.checks.get(sub) !== 1)).toEqual([]);
    // Workers that wait for their turns together are no leak.
    expect(one.logs() + other.logs()).not.toContain('MaxListenersExceededWarning');
  });

  it('takes no answer for a no that says nothing of groups', async () => {
    const person = await world.person(one);
    world.provider.givesIdTokens = false;
    const recheck = async (): Promise<unknown> => {
      await world.sql.query(
        `UPDATE identity SET eligibility_next_check_at = now(), eligibility_reason = NULL
         WHERE subject = $1`,
        [person.sub],
      );
      await signal(one, person.sub);
      const reasonOf = async (): Promise<string | null> => {
        const { rows } = await world.sql.query<{ reason: string | null }>(
          `SELECT eligibility_reason AS reason FROM identity WHERE subject = $1 AND consecutive_failures > 0`,
          [person.sub],
        );
        return rows[0]?.reason ?? null;
      };
      await world.until('judged', async () => (await reasonOf()) !== null);
      return reasonOf();
    };
    try {
      expect(await recheck()).toBe('no_claims');
      expect(await world.statusOf(one, person)).toBe(200);
    } finally {
      world.provider.givesIdTokens = true;
    }
  });

  it.each(['team \ud83d', 'team \u0000'])(
    'ends access of a person whose only group cannot be stored: %j',
    async (group) => {
      const person = await world.person(one);
      world.provider.groups.set(person.sub, [group]);
      await signal(one, person.sub);
      await world.until('403', async () => (await world.statusOf(one, person)) === 403);
    },
  );

  it('finds an identity that a replica linked for which re-checks are off', async () => {
    const { sub } = await world.person(one);
    const checks = world.provider.totalChecks;
    await world.sql.query(
      'UPDATE identity SET eligibility_next_check_at = NULL WHERE subject = $1',
      [sub],
    );
    await world.until('asked', () => world.provider.totalChecks > checks);
  });
});
