import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { CAUSE_REASONS } from '../../../src/server/event-streams/event-causes.js';
import { CAEP, SsfTransmitter } from '../../fakes/ssf-transmitter.js';
import { EventStreamFixture, SESSION_REVOKED } from '../../fixtures/event-stream-fixture.js';
import { KEYLESS, OffboardingFixture, type Person } from '../../fixtures/offboarding-fixture.js';
import { PROGRAM_ENV, PROGRAMS, programTokens, refresh } from '../../fixtures/programs-fixture.js';
import { backends, backendToken } from '../../fixtures/resource-server-fixture.js';
import { call, type Json } from '../../helpers/client.js';

const AUDIENCE = 'https://gate.example.com';
const METRICS_TOKEN = 'a-token-of-the-metrics-0123456789';
const HOUR_SECONDS = 3600;

const fixture = await OffboardingFixture.open();
const transmitter = await SsfTransmitter.start(AUDIENCE);
const setup = backends([{ id: 'notes', programs: PROGRAMS }]);
const server = await fixture.start({
  ...KEYLESS,
  ...setup.env,
  ...PROGRAM_ENV,
  AUTH_PROVIDERS_CONFIG_JSON: fixture.providers({
    signals: { sharedSignals: { transmitter: transmitter.issuer, audience: AUDIENCE } },
  }),
  METRICS_TOKEN,
});
const stream = await EventStreamFixture.open(server, setup, 'notes');
afterAll(async () => {
  await fixture.close();
  await transmitter.close();
});

interface Case {
  readonly person: Person;
  readonly sid: string;
}

const backchannelLogout = async ({ person: { sub }, sid }: Case): Promise<number> => {
  const token = await fixture.provider.logoutToken(sub, { claims: { sid } });
  const { status } = await call(server, 'POST', '/v1/auth/backchannel-logout/people', {
    body: new URLSearchParams({ logout_token: token }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  return status;
};

const subjectOf = ({ sub }: Person) => ({ format: 'iss_sub', iss: fixture.provider.issuer, sub });

const sessionRevoked = async (subject: unknown, secondsAgo: number): Promise<number> => {
  const claims = { iat: Math.floor(Date.now() / 1000) - secondsAgo };
  const { status } = await call(server, 'POST', '/v1/signals/people', {
    body: await transmitter.event(`${CAEP}session-revoked`, subject, { claims }),
    headers: { 'content-type': 'application/secevent+jwt' },
  });
  return status;
};

/** Signals that end grants, with the reason of the audit event. */
const SIGNALS: [string, string, (one: Case) => Promise<number>][] = [
  ['a logout token', 'backchannel-logout', backchannelLogout],
  [
    'an event about the session',
    'shared-signals',
    ({ person, sid }) =>
      sessionRevoked({ user: subjectOf(person), session: { format: 'opaque', id: sid } }, 0),
  ],
  [
    'a late event about the person',
    'shared-signals',
    async ({ person }) => {
      await fixture.sql.query(
        `UPDATE program_grant SET authenticated_at = now() - interval '4 hours'
         WHERE account_id = $1`,
        [person.accountId],
      );
      await fixture.keylessLogin(server, person.sub);
      return sessionRevoked(subjectOf(person), 3 * HOUR_SECONDS);
    },
  ],
];

/** Returns the ends by a provider that the log has about an account since it was this long. */
const logged = (accountId: string, from: number): Json[] =>
  server
    .logs()
    .slice(from)
    .split('\n')
    .filter((line) => line.includes('"msg":"audit"') && line.includes(accountId))
    .map((line) => JSON.parse(line) as Json)
    .filter(({ actor }) => actor === 'provider')
    .map(({ kind, actor, provider, reason, sessionId = null, detail = null }) => ({
      ...{ kind, actor, provider, reason, sessionId, detail },
    }));

const storedOf = async (accountId: string, after: number): Promise<Json[]> => {
  const { rows } = await fixture.sql.query<Json>(
    `SELECT kind, actor, provider, reason, session_id AS "sessionId", detail FROM audit_event
     WHERE account_id = $1 AND id > $2 AND actor = 'provider' ORDER BY id`,
    [accountId, after],
  );
  return rows;
};

const lastEvent = async (): Promise<number> => {
  const { rows } = await fixture.sql.query<{ id: string }>('SELECT max(id) AS id FROM audit_event');
  return Number(rows[0]?.id);
};

const countOf = async (cause: string): Promise<number> => {
  const { text } = await call(server, 'GET', '/metrics', { token: METRICS_TOKEN });
  const [, count = '0'] =
    new RegExp(`gatehouse_program_grants_ended_total{cause="${cause}"} (\\d+)`).exec(text) ?? [];
  return Number(count);
};

describe('the end of a program by a signal of a provider', () => {
  it.each(SIGNALS)('is reported as its own by %s', async (_what, reason, signal) => {
    const sid = randomUUID();
    const person = await fixture.keylessLogin(server, randomUUID(), sid);
    const program = await programTokens(server, person.token);
    await call(server, 'POST', '/v1/auth/logout', { token: person.token });
    const [before, after, from] = [await countOf(reason), await lastEvent(), server.logs().length];
    expect(await signal({ person, sid })).toBeLessThan(300);

    expect((await refresh(server, program.refresh)).body['error']).toBe('invalid_grant');
    const stored = await storedOf(person.accountId, after);
    expect(stored).toContainEqual({
      ...{ kind: 'program-ended', actor: 'provider', provider: 'people', reason },
      ...{ sessionId: null, detail: 'inspector at notes' },
    });
    await fixture.until('logged', () => logged(person.accountId, from).length >= stored.length);
    expect(logged(person.accountId, from)).toEqual(stored);
    expect(await countOf(reason)).toBe(before + 1);
  });

  it('is not given to backends as the cause of the end of a session', async () => {
    const sid = randomUUID();
    const person = await fixture.keylessLogin(server, randomUUID(), sid);
    const program = await programTokens(server, person.token);
    const session = await backendToken(server, person.token, 'notes');
    const sids = [session, program.access].map((token) => String(decodeJwt(token)['sid']));
    expect(await backchannelLogout({ person, sid })).toBe(200);
    const events = await stream.until(...sids);
    const ended = events.find(({ sub_id: subject }) => subject.session.id === sids[0]);
    expect(ended?.events[SESSION_REVOKED]).toMatchObject({
      initiating_entity: 'policy',
      reason_admin: { en: CAUSE_REASONS['token-revoked'] },
    });
  });
});
