import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { AdminCalls, AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';
import {
  endedIn,
  EventStreamFixture,
  SESSION_REVOKED,
  type EndingKind,
} from '../../fixtures/event-stream-fixture.js';
import { KEYLESS, OffboardingFixture, type Person } from '../../fixtures/offboarding-fixture.js';
import { backends, backendToken, exchange } from '../../fixtures/resource-server-fixture.js';
import { sessionIdOf, tokenOf } from '../../fixtures/sessions-fixture.js';
import { call, makeDeviceKey, refusalOf, type Json } from '../../helpers/client.js';

interface Ending {
  readonly end: (person: Person) => Promise<unknown>;
  readonly by: 'user' | 'admin' | 'policy';
  readonly reason: string;
}

/** Races of five people each. */
const RACE_ROUNDS = process.env['GATEHOUSE_TEST_LONG'] === '1' ? 200 : 10;
const OPEN = {
  ...KEYLESS,
  AUTH_ANONYMOUS_SIGNUP_ENABLED: 'true',
  AUTH_SIGNUP_PROVIDERS: 'people',
  AUTH_ACCESS_CACHE_SECONDS: '60',
};

const setup = backends([
  { id: 'relay', requireProviders: ['people'] },
  { id: 'files', requireProviders: ['people'] },
]);

const [fixture, tokens] = await Promise.all([OffboardingFixture.open(), AdminTokensFile.create()]);
const env = { ...OPEN, ...setup.env };
const one = await fixture.start({ ...env, ...tokens.env });
const two = await fixture.start(env);
const admin = new AdminCalls(await adminUrlOf(one), tokens.operator);
const streams = await Promise.all(
  ['relay', 'files'].map((id) => EventStreamFixture.open(two, setup, id)),
);
afterAll(() => fixture.close());

describe('each end of a session (two replicas; needs PostgreSQL and Redis)', () => {
  const sidsOf = (token: string, server = two): Promise<string[]> =>
    Promise.all(
      ['relay', 'files'].map(
        async (id) => decodeJwt(await backendToken(server, token, id))['sid'] as string,
      ),
    );

  /** The only event of each session at a backend. */
  async function eventsOf(sids: readonly string[]) {
    return Promise.all(
      streams.map(async (stream, index) => {
        const sid = sids[index] ?? '';
        const events = [...(await stream.until(sid)), ...(await stream.take())];
        const mine = events.filter((event) => endedIn([event]).includes(sid));
        expect(mine).toHaveLength(1);
        return mine[0];
      }),
    );
  }

  // test/e2e/scim has the specs of directories, test/e2e/programs those of programs.
  const ENDINGS: Record<
    Exclude<EndingKind, 'directory-deactivated' | 'program-ended'>,
    readonly Ending[]
  > = {
    'token-revoked': [
      {
        end: ({ token }) => call(one, 'POST', '/v1/auth/logout', { token }),
        ...{ by: 'user', reason: 'The session was ended.' },
      },
      {
        end: ({ accountId, token }) => admin.remove(`${accountId}/sessions/${sessionIdOf(token)}`),
        ...{ by: 'admin', reason: 'The session was ended.' },
      },
    ],
    'all-tokens-revoked': [
      {
        end: ({ token }) => call(one, 'POST', '/v1/auth/logout-everywhere', { token }),
        ...{ by: 'user', reason: 'All sessions of the account were ended.' },
      },
      {
        end: ({ accountId }) => admin.act(accountId, 'revoke'),
        ...{ by: 'admin', reason: 'All sessions of the account were ended.' },
      },
    ],
    'account-disabled': [
      {
        end: ({ accountId }) => admin.act(accountId, 'disable'),
        ...{ by: 'admin', reason: 'The account was disabled.' },
      },
    ],
    'account-deleted': [
      {
        end: ({ accountId }) => admin.remove(accountId),
        ...{ by: 'admin', reason: 'The account was deleted.' },
      },
    ],
    'identity-unlinked': [
      {
        end: ({ token }) => call(one, 'DELETE', '/v1/connect/external/people', { token }),
        ...{ by: 'user', reason: 'An identity was removed from the account.' },
      },
    ],
    'eligibility-lost': [
      {
        end: async ({ sub, accountId }) => {
          fixture.provider.groups.set(sub, ['alumni']);
          await admin.act(accountId, 'recheck');
        },
        ...{ by: 'policy', reason: 'A provider does not confirm the account any more.' },
      },
    ],
  };

  it.each(
    Object.entries(ENDINGS).flatMap(([kind, endings]) =>
      endings.map((ending) => [kind, ending.by, ending] as const),
    ),
  )('reports %s by %s once to each backend, with the audit event', async (kind, by, ending) => {
    const person = await fixture.person(one);
    const sids = await sidsOf(person.token);
    await ending.end(person);
    const events = await eventsOf(sids);
    for (const event of events) {
      expect(event?.events[SESSION_REVOKED]).toMatchObject({
        initiating_entity: by,
        reason_admin: { en: ending.reason },
      });
    }
    const { body } = await admin.get(`/audit?accountId=${person.accountId}`);
    const audited = (body['events'] as Json[]).find(({ kind: found }) => found === kind);
    expect(new Set(events.map((event) => event?.txn))).toEqual(new Set([audited?.['txn']]));
    const refused = await exchange(two, person.token, 'relay');
    expect(refused.status).not.toBe(200);
  });

  it('reports a back-channel logout', async () => {
    const sid = randomUUID();
    const person = await fixture.keylessLogin(one, randomUUID(), sid);
    const sids = await sidsOf(person.token);
    const token = await fixture.provider.logoutToken(person.sub, { claims: { sid } });
    await call(one, 'POST', '/v1/auth/backchannel-logout/people', {
      body: new URLSearchParams({ logout_token: token }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    for (const event of await eventsOf(sids)) {
      expect(event?.events[SESSION_REVOKED]).toMatchObject({ initiating_entity: 'policy' });
    }
  });

  it('reports the session that exceeds the limit', async () => {
    const key = makeDeviceKey();
    const token = await tokenOf(one, key);
    const { sub: accountId } = decodeJwt(token);
    await fixture.link([accountId ?? '']);
    const sids = await sidsOf(token);
    await fixture.sql.query(
      `UPDATE session SET last_seen_at = now() - interval '1 hour' WHERE account_id = $1`,
      [accountId],
    );
    for (let login = 0; login < 100; login += 1) {
      await tokenOf(one, key);
    }
    for (const event of await eventsOf(sids)) {
      expect(event?.events[SESSION_REVOKED]).toMatchObject({
        initiating_entity: 'policy',
        reason_admin: { en: 'The account has too many sessions.' },
      });
    }
  });

  it('makes a new session at the backend when access returns, and ends the old one for ever', async () => {
    const person = await fixture.person(one);
    const before = await backendToken(two, person.token, 'relay');
    const forward = async (token: string) =>
      (await call(two, 'GET', '/v1/oauth/forward-auth/relay', { token })).status;
    expect(await forward(before)).toBe(200);
    const [old = ''] = await sidsOf(person.token);
    fixture.provider.groups.set(person.sub, ['alumni']);
    await admin.act(person.accountId, 'recheck');
    await streams[0]?.until(old);
    fixture.provider.groups.set(person.sub, ['staff']);
    await admin.act(person.accountId, 'recheck');
    let after = '';
    await fixture.until('the exchange is admitted again', async () => {
      const { status, body } = await exchange(two, person.token, 'relay');
      after = String(body['access_token']);
      return status === 200;
    });
    expect(decodeJwt(after)['sid']).not.toBe(decodeJwt(before)['sid']);
    expect(await forward(after)).toBe(200);
    expect(await forward(before)).toBe(401);
  });

  const RACES: [string, string, (person: Person) => Promise<unknown>][] = [
    [
      'an administrator disables the account',
      'account-disabled',
      ({ accountId }) => admin.act(accountId, 'disable'),
    ],
    [
      'a person removes the identity',
      'provider-required',
      ({ token }) => call(one, 'DELETE', '/v1/connect/external/people', { token }),
    ],
  ];
  it.each(RACES)('issues no token without a later event when %s', async (_what, code, end) => {
    const [relay] = streams;
    for (let round = 0; round < RACE_ROUNDS; round += 1) {
      const people = await Promise.all(Array.from({ length: 5 }, () => fixture.person(one)));
      // Both replicas have warm caches. Every second session is new to the backends.
      const isKnown = (index: number): boolean => index % 2 === 0;
      await Promise.all(
        people.flatMap(({ token }, index) =>
          [one, two].map((replica) =>
            isKnown(index)
              ? sidsOf(token, replica)
              : call(replica, 'GET', '/v1/push-tokens', { token }),
          ),
        ),
      );
      const racing = people.map(async (person) => {
        const { token } = person;
        const exchanges = Array.from({ length: 6 }, (_none, index) =>
          exchange(index % 2 === 0 ? one : two, token, 'relay'),
        );
        const [answers] = await Promise.all([Promise.all(exchanges), end(person)]);
        return answers.flatMap(({ status, body }) =>
          status === 200 ? [decodeJwt(String(body['access_token']))['sid'] as string] : [],
        );
      });
      const issued = new Set((await Promise.all(racing)).flat());
      const ended = endedIn((await relay?.until(...issued)) ?? []);
      expect(ended).toEqual(expect.arrayContaining([...issued]));
      for (const { token } of people) {
        expect(refusalOf(await exchange(two, token, 'relay'))).toMatchObject({
          code,
        });
      }
    }
  });

  it('judges an exchange after the act that it waits for', async () => {
    const person = await fixture.person(one);
    const act = await fixture.sql.connect();
    await act.query('BEGIN');
    await act.query('DELETE FROM identity WHERE account_id = $1', [person.accountId]);
    let isAnswered = false;
    const answer = exchange(two, person.token, 'relay').finally(() => (isAnswered = true));
    await fixture.until('the exchange waits, or is answered', async () => {
      const { rowCount } = await fixture.sql.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'
         AND datname = current_database() AND query LIKE 'SELECT FROM "account"%SHARE'`,
      );
      return isAnswered || rowCount === 1;
    });
    const hasWaited = !isAnswered;
    await act.query('COMMIT');
    act.release();
    expect(hasWaited).toBe(true);
    expect(refusalOf(await answer)).toMatchObject({ code: 'provider-required' });
  });

  it('ends sessions that changed rules and passing time no longer admit', async () => {
    const person = await fixture.person(one);
    const lapsed = await fixture.person(one);
    const sids = await sidsOf(person.token);
    const others = await sidsOf(lapsed.token);
    // The stored answer of one is older than the interval of the new rules.
    await fixture.sql.query(
      `UPDATE identity SET eligibility_checked_at = now() - interval '1 hour'
       WHERE account_id = $1`,
      [lapsed.accountId],
    );
    const three = await fixture.start({
      ...OPEN,
      ...setup.env,
      AUTH_OFFBOARDING_STRICT: 'true',
      AUTH_OFFBOARDING_INTERVAL_SECONDS: '600',
    });
    for (const event of await eventsOf(others)) {
      expect(event?.events[SESSION_REVOKED]).toMatchObject({
        initiating_entity: 'policy',
        reason_admin: { en: 'The rules do not admit the account any more.' },
      });
    }
    const left = await fixture.sql.query('SELECT FROM resource_session WHERE id = ANY($1)', [sids]);
    expect(left.rowCount).toBe(2);
    await three.stop();
  });
});
