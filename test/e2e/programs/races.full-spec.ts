import { decodeJwt } from 'jose';
import { AdminCalls, AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';
import { EventStreamFixture, endedIn } from '../../fixtures/event-stream-fixture.js';
import { KEYLESS, OffboardingFixture, type Person } from '../../fixtures/offboarding-fixture.js';
import {
  grantedCode,
  newVerifier,
  passTime,
  PROGRAM_ENV,
  PROGRAMS,
  programTokens,
  redeem,
  refresh,
  tokensIn,
} from '../../fixtures/programs-fixture.js';
import { backends } from '../../fixtures/resource-server-fixture.js';
import { sessionIdOf } from '../../fixtures/sessions-fixture.js';
import { call, type Answer } from '../../helpers/client.js';

const MINUTE_MS = 60_000;
const PEOPLE_AT_ONCE = 5;
/** Races of five people each, by each of four ends. */
const RACE_ROUNDS = process.env['GATEHOUSE_TEST_LONG'] === '1' ? 50 : 3;

const setup = backends([{ id: 'notes', requireProviders: ['people'], programs: PROGRAMS }]);
const [fixture, tokens] = await Promise.all([OffboardingFixture.open(), AdminTokensFile.create()]);
const env = {
  ...KEYLESS,
  AUTH_ANONYMOUS_SIGNUP_ENABLED: 'true',
  AUTH_SIGNUP_PROVIDERS: 'people',
  AUTH_ACCESS_CACHE_SECONDS: '60',
  ...setup.env,
  ...PROGRAM_ENV,
};
const one = await fixture.start({ ...env, ...tokens.env });
const two = await fixture.start(env);
const admin = new AdminCalls(await adminUrlOf(one), tokens.operator);
const stream = await EventStreamFixture.open(two, setup, 'notes');
afterAll(() => fixture.close());

/** Sends as many requests at once, to the replicas in turn. */
const atOnce = (count: number, send: (server: typeof one) => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(Array.from({ length: count }, (_none, index) => send(index % 2 === 0 ? one : two)));

const sidOf = (access: unknown): string => String(decodeJwt(String(access))['sid']);

const sidsIn = (answers: readonly Answer[]): string[] =>
  answers.flatMap(({ status, body }) => (status === 200 ? [sidOf(body['access_token'])] : []));

describe('the token endpoint, in races with the end of a person (two replicas; needs PostgreSQL and Redis)', () => {
  const ENDS: [string, (person: Person) => Promise<unknown>][] = [
    ['the account is disabled', ({ accountId }) => admin.act(accountId, 'disable')],
    [
      'all sessions are ended',
      ({ token }) => call(one, 'POST', '/v1/auth/logout-everywhere', { token }),
    ],
    [
      'the approving session is ended',
      ({ accountId, token }) => admin.remove(`${accountId}/sessions/${sessionIdOf(token)}`),
    ],
    [
      'the required identity is removed',
      ({ token }) => call(one, 'DELETE', '/v1/connect/external/people', { token }),
    ],
  ];

  it.each(ENDS)(
    'issues no token of a program without a later event when %s',
    async (_what, end) => {
      for (let round = 0; round < RACE_ROUNDS; round += 1) {
        const racing = Array.from({ length: PEOPLE_AT_ONCE }, async () => {
          const person = await fixture.person(one);
          const first = await programTokens(two, person.token);
          const verifier = newVerifier();
          const code = await grantedCode(one, person.token, verifier);
          const [refreshed, redeemed] = await Promise.all([
            atOnce(6, (server) => refresh(server, first.refresh)),
            redeem(two, code, verifier),
            end(person),
          ]);
          return { first, code, verifier, sids: sidsIn([...refreshed, redeemed]) };
        });
        const people = await Promise.all(racing);
        const issued = people.flatMap(({ first, sids }) => [sidOf(first.access), ...sids]);
        expect(endedIn(await stream.until(...issued))).toEqual(expect.arrayContaining(issued));
        for (const { first, code, verifier } of people) {
          const answers = [await refresh(two, first.refresh), await redeem(one, code, verifier)];
          expect(answers.map(({ body }) => body['error'])).toEqual([
            'invalid_grant',
            'invalid_grant',
          ]);
        }
      }
    },
  );

  const ACTS: [string, string][] = [
    ['the account is disabled', 'UPDATE account SET disabled_at = now() WHERE id = $1'],
    ['all sessions are ended', 'UPDATE account SET token_epoch = token_epoch + 1 WHERE id = $1'],
    ['the required identity is removed', 'DELETE FROM identity WHERE account_id = $1'],
    [
      'the provider refuses the identity',
      `UPDATE identity SET eligibility_status = 'ineligible' WHERE account_id = $1`,
    ],
  ];

  /** Resolves when a refresh waits for a lock with such a statement. */
  const untilWaiting = (statement: string): Promise<unknown> =>
    fixture.until(`a refresh waits with ${statement}`, async () => {
      const { rowCount } = await fixture.sql.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'
         AND datname = current_database() AND query LIKE $1`,
        [`%${statement}%`],
      );
      return rowCount === 1;
    });

  /** Commits an act while a refresh waits for it. */
  const actDuring = async (
    act: string,
    [before, during]: readonly [string, string],
    statement: string,
  ): Promise<void> => {
    const person = await fixture.person(one);
    const first = await programTokens(one, person.token);
    const acting = await fixture.sql.connect();
    await acting.query('BEGIN');
    const run = (sql: string) => acting.query(sql, sql === act ? [person.accountId] : []);
    await run(before);
    const answer = refresh(two, first.refresh);
    await untilWaiting(statement);
    await run(during);
    await acting.query('COMMIT');
    acting.release();
    expect(['invalid_grant', 'temporarily_unavailable']).toContain((await answer).body['error']);
    await stream.until(sidOf(first.access));
  };

  it.each(ACTS)('issues no token to a refresh that waits for an act: %s', async (_what, act) => {
    await actDuring(act, [act, 'SELECT 1'], '"program_grant"');
  });

  it.each(ACTS)('issues no token to a refresh judged before an act: %s', async (_what, act) => {
    // It permits reads, so that only the statement which stores the use waits.
    const lock = 'LOCK TABLE program_grant IN EXCLUSIVE MODE';
    await actDuring(act, [lock, act], 'UPDATE "program_grant"');
  });
});

describe('refresh at two replicas (needs PostgreSQL and Redis)', () => {
  it('gives one newest token to 50 requests at once, and ends nothing', async () => {
    const person = await fixture.person(one);
    const first = await programTokens(one, person.token);
    await passTime(fixture.sql, person.accountId, MINUTE_MS);
    const answers = await atOnce(50, (server) => refresh(server, first.refresh));
    const newest = new Set(answers.map((answer) => tokensIn(answer).refresh));
    expect(newest.size).toBe(1);
    expect(newest).not.toContain(first.refresh);
    expect(new Set(sidsIn(answers))).toEqual(new Set([sidOf(first.access)]));
    expect((await refresh(two, [...newest][0] ?? '')).status).toBe(200);
  });

  it('stores the use of each of 50 grants that are refreshed at once', async () => {
    const people = await Promise.all(Array.from({ length: 10 }, () => fixture.person(one)));
    const programs: Awaited<ReturnType<typeof programTokens>>[] = [];
    for (const { token } of Array.from({ length: 5 }, () => people).flat()) {
      programs.push(await programTokens(one, token));
    }
    for (const { accountId } of people) {
      await passTime(fixture.sql, accountId, MINUTE_MS);
    }
    const answers = await Promise.all(programs.map((program) => refresh(one, program.refresh)));
    expect(sidsIn(answers)).toEqual(programs.map(({ access }) => sidOf(access)));
    const { rows } = await fixture.sql.query(
      `SELECT count(*)::int AS "grants" FROM program_grant
       WHERE account_id = ANY($1) AND generation = 1 AND cardinality(superseded_at) = 1`,
      [people.map(({ accountId }) => accountId)],
    );
    expect(rows).toEqual([{ grants: 50 }]);
  });

  it('gives the newest token for each one of the last hour, and ends the grant with an older one', async () => {
    const person = await fixture.person(one);
    const first = await programTokens(one, person.token);
    const known = [first.refresh];
    while (known.length < 6) {
      await passTime(fixture.sql, person.accountId, 10 * MINUTE_MS);
      known.push(tokensIn(await refresh(one, known.at(-1) ?? '')).refresh);
    }
    for (const token of known) {
      expect(tokensIn(await refresh(two, token)).refresh).toBe(known.at(-1));
    }
    // The first one was superseded 40 minutes ago.
    await passTime(fixture.sql, person.accountId, 21 * MINUTE_MS);
    for (const token of [known[1], known[5]]) {
      expect((await refresh(one, token ?? '')).status).toBe(200);
    }
    const answers = await atOnce(4, (server) => refresh(server, first.refresh));
    expect(new Set(answers.map(({ body }) => body['error']))).toEqual(new Set(['invalid_grant']));
    expect((await refresh(one, known[5] ?? '')).body['error']).toBe('invalid_grant');
    expect(endedIn(await stream.until(sidOf(first.access)))).toContain(sidOf(first.access));
    const { rows } = await fixture.sql.query(
      `SELECT reason FROM audit_event WHERE kind = 'program-ended' AND account_id = $1`,
      [person.accountId],
    );
    expect(rows).toEqual([{ reason: 'refresh-token-reused' }]);
  });
});
