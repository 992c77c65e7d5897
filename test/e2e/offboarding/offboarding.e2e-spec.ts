import { randomBytes } from 'node:crypto';
import { call } from '../../helpers/client.js';
import { connect } from '../../helpers/client-live.js';
import { type Server } from '../../fixtures/programs/server-fixture.js';
import { OffboardingFixture } from '../../fixtures/offboarding-fixture.js';
import { unlink } from '../../fixtures/provider-login-fixture.js';

const fixture = await OffboardingFixture.open();
const one = await fixture.start();
const other = await fixture.another();
afterAll(() => fixture.close());

describe('leaving a required provider', () => {
  const signal = async (server: Server, sub: string) => {
    const form = new URLSearchParams({ logout_token: await fixture.provider.logoutToken(sub) });
    return call(server, 'POST', '/v1/auth/backchannel-logout/people', {
      body: form.toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  };

  it('ends access on every replica at the signal, and restores it without a login', async () => {
    const person = await fixture.person(one);
    const live = await connect(other, { token: person.token });
    await live.next('hello');
    expect(await fixture.statusOf(one, person)).toBe(200);
    expect(await fixture.statusOf(other, person)).toBe(200);

    fixture.provider.groups.set(person.sub, ['alumni']);
    const answer = await signal(one, person.sub);
    expect({ status: answer.status, text: answer.text }).toEqual({ status: 200, text: '' });
    expect(answer.headers['cache-control']).toBe('no-store');
    const closing = await live.next('closing');
    await fixture.until('403 on both', async () => {
      const statuses = [await fixture.statusOf(one, person), await fixture.statusOf(other, person)];
      return statuses.every((status) => status === 403);
    });
    expect(closing).toMatchObject({ statusCode: 403, code: 'not-eligible', provider: 'people' });
    expect(await live.disconnected).toBe('io server disconnect');
    const profile = await call(other, 'GET', '/v1/account/profile', person);
    expect(profile.body).toMatchObject({
      identities: [{ eligibility: { status: 'ineligible', reason: 'group_missing' } }],
    });

    fixture.provider.groups.set(person.sub, ['staff']);
    await signal(other, person.sub);
    await fixture.until(
      'access returns',
      async () => (await fixture.statusOf(one, person)) === 200,
    );
    await fixture.until(
      'access returns',
      async () => (await fixture.statusOf(other, person)) === 200,
    );
    const { rows } = await fixture.sql.query(
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

  it('sends the update of an unlink before it closes the connections of its replica', async () => {
    const person = await fixture.person(one);
    const live = await connect(one, { token: person.token });
    await live.next('hello');
    const received: string[] = [];
    live.socket.onAny((name: string) => received.push(name));
    expect((await unlink(one, person.token, 'people')).status).toBe(200);
    await live.disconnected;
    expect(received).toEqual(['update', 'closing']);
  });

  it('sends each update once to the clients of every replica', async () => {
    const person = await fixture.person(one);
    const clients = await Promise.all(
      [one, other, one].map((server) => connect(server, { token: person.token })),
    );
    const first = (await clients[0]?.next('hello'))?.['seq'] as number;
    await fixture.connect(one, person, 'guild', person.sub);
    await unlink(other, person.token, 'guild');
    for (const client of clients) {
      const updates = [await client.next('update'), await client.next('update')];
      const seqs = updates.map(({ seq }) => seq as number);
      // Updates of two replicas may arrive in another order.
      expect(seqs.toSorted()).toEqual([first + 1, first + 2]);
      expect(client.waiting('update')).toBe(0);
      client.close();
    }
  });

  it('ends access by the schedule alone, and on a revoked refresh token', async () => {
    const person = await fixture.person(one);
    const live = await connect(other, { token: person.token });
    fixture.provider.groups.delete(person.sub);
    await fixture.makeDue();
    expect(await live.next('closing')).toMatchObject({ code: 'not-eligible' });
    expect(await fixture.statusOf(one, person)).toBe(403);
  });

  it('ends access of a person whose login has become longer than an index holds', async () => {
    const person = await fixture.person(one);
    fixture.provider.logins.set(person.sub, randomBytes(4000).toString('base64'));
    fixture.provider.groups.set(person.sub, ['alumni']);
    await fixture.recheck(person.sub);
    expect(await fixture.statusOf(one, person)).toBe(403);
  });

  it('keeps the newest refresh token through many re-checks', async () => {
    const person = await fixture.person(one);
    for (let round = 1; round <= 4; round += 1) {
      await signal(round % 2 === 0 ? one : other, person.sub);
      await fixture.until(`check ${round}`, async () => {
        const { rows } = await fixture.sql.query<{ done: boolean }>(
          `SELECT eligibility_next_check_at > now() AND lease_until IS NULL AS done
             FROM identity WHERE subject = $1`,
          [person.sub],
        );
        return rows[0]?.done === true && (fixture.provider.checks.get(person.sub) ?? 0) >= round;
      });
    }
    expect(await fixture.statusOf(one, person)).toBe(200);
  });

  it('checks each of 600 identities once, with two replicas at work', async () => {
    const subs = await fixture.crowd(600);
    await fixture.until('all checked', () =>
      subs.every((sub) => (fixture.provider.checks.get(sub) ?? 0) > 0),
    );
    expect(subs.filter((sub) => fixture.provider.checks.get(sub) !== 1)).toEqual([]);
    await fixture.until('all stored', async () => {
      const due = await fixture.sql.query(
        `SELECT 1 FROM identity WHERE lease_until IS NOT NULL OR eligibility_next_check_at <= now()`,
      );
      return due.rowCount === 0;
    });
    expect(subs.filter((sub) => fixture.provider.checks.get(sub) !== 1)).toEqual([]);
    // Workers that wait together are not a leak.
    expect(one.logs() + other.logs()).not.toContain('MaxListenersExceededWarning');
  });

  it('treats an answer without groups as unknown', async () => {
    const person = await fixture.person(one);
    fixture.provider.givesIdTokens = false;
    const recheck = async (): Promise<unknown> => {
      await fixture.sql.query(
        `UPDATE identity SET eligibility_next_check_at = now(), eligibility_reason = NULL
         WHERE subject = $1`,
        [person.sub],
      );
      await signal(one, person.sub);
      const reasonOf = async (): Promise<string | null> => {
        const { rows } = await fixture.sql.query<{ reason: string | null }>(
          `SELECT eligibility_reason AS reason FROM identity WHERE subject = $1 AND consecutive_failures > 0`,
          [person.sub],
        );
        return rows[0]?.reason ?? null;
      };
      await fixture.until('judged', async () => (await reasonOf()) !== null);
      return reasonOf();
    };
    try {
      expect(await recheck()).toBe('no_claims');
      expect(await fixture.statusOf(one, person)).toBe(200);
    } finally {
      fixture.provider.givesIdTokens = true;
    }
  });

  it.each(['team \ud83d', 'team \u0000'])(
    'ends access of a person whose only group cannot be stored: %j',
    async (group) => {
      const person = await fixture.person(one);
      fixture.provider.groups.set(person.sub, [group]);
      await signal(one, person.sub);
      await fixture.until('403', async () => (await fixture.statusOf(one, person)) === 403);
    },
  );

  it('schedules an identity that a replica without re-checks linked', async () => {
    const { sub } = await fixture.person(one);
    const checks = fixture.provider.totalChecks;
    await fixture.sql.query(
      'UPDATE identity SET eligibility_next_check_at = NULL WHERE subject = $1',
      [sub],
    );
    await fixture.until('asked', () => fixture.provider.totalChecks > checks);
  });
});
