import { randomUUID } from 'node:crypto';
import { CAEP, RISC, SSF, SsfTransmitter, type EventChanges } from '../../fakes/ssf-transmitter.js';
import { KEYLESS, OffboardingFixture, type Person } from '../../fixtures/offboarding-fixture.js';
import { createCliUser } from '../../fixtures/programs/cli-fixture.js';
import { connect } from '../../helpers/client-live.js';
import { call, type Answer, type Json } from '../../helpers/client.js';

const AUDIENCE = 'https://gate.example.com';
const PUSH_TOKEN = 'the-push-token-of-the-transmitter-of-the-spec';
const DISABLED = `${RISC}account-disabled`;
const ENABLED = `${RISC}account-enabled`;
const REVOKED = `${CAEP}session-revoked`;

const secondsAgo = (seconds: number): number => Math.floor(Date.now() / 1000) - seconds;

/** The refusal counts if two events happened in the same second. */
const EARLIER = { claims: { iat: secondsAgo(5) } };

const envWith = (change: object = {}) => ({
  ...KEYLESS,
  AUTH_PROVIDERS_CONFIG_JSON: fixture.providers({
    signals: {
      sharedSignals: {
        transmitter: transmitter.issuer,
        audience: AUDIENCE,
        pushToken: PUSH_TOKEN,
        ...change,
      },
    },
  }),
  AUTH_ACCESS_CACHE_SECONDS: '15',
  METRICS_TOKEN: PUSH_TOKEN,
});

const fixture = await OffboardingFixture.open();
const transmitter = await SsfTransmitter.start(AUDIENCE);
const one = await fixture.start(envWith());
const other = await fixture.another(envWith());
afterAll(async () => {
  await fixture.close();
  await transmitter.close();
});

describe('security events', () => {
  const push = (body: string, server = one, token: string | undefined = PUSH_TOKEN) =>
    call(server, 'POST', '/v1/signals/people', {
      body,
      ...(token !== undefined && { token }),
      headers: { 'content-type': 'application/secevent+jwt' },
    });
  const send = async (type: string, subject: unknown, changes?: EventChanges): Promise<Answer> =>
    push(await transmitter.event(type, subject, changes));
  const subjectOf = ({ sub }: Pick<Person, 'sub'>) => ({
    ...{ format: 'iss_sub', iss: fixture.provider.issuer, sub },
  });
  /** The events of a signal with this `txn`. */
  const auditOf = async (txn: string): Promise<Json[]> =>
    (
      await fixture.sql.query<Json>(
        `SELECT kind, actor, account_id, subject, reason, issuer FROM audit_event
         WHERE signal_txn = $1 ORDER BY kind`,
        [txn],
      )
    ).rows;
  const ofSignal = () => ({
    ...{ actor: 'provider', reason: 'shared-signals', issuer: transmitter.issuer },
  });

  it.each([REVOKED, `${RISC}sessions-revoked`])(
    'ends every session of the person for %s, on both replicas',
    async (type) => {
      const person = await fixture.keylessLogin(one);
      const live = await connect(other, { token: person.token });
      await live.next('hello');
      const txn = randomUUID();
      const answer = await send(type, subjectOf(person), { claims: { txn } });
      expect([answer.status, answer.text]).toEqual([202, '']);
      expect(['token-revoked', 'provider-required']).toContain(
        (await live.next('closing'))['code'],
      );
      await fixture.until('401', async () => (await fixture.statusOf(other, person)) === 401);
      const by = { ...ofSignal(), account_id: person.accountId };
      expect(await auditOf(txn)).toEqual([
        { ...by, kind: 'all-tokens-revoked', subject: person.sub },
        { ...by, kind: 'token-revoked', subject: null },
      ]);
      expect((await fixture.keylessLogin(one, person.sub)).accountId).toBe(person.accountId);
    },
  );

  it('names the transmitter and its transaction in the audit command', async () => {
    const person = await fixture.keylessLogin(one);
    const claims = { txn: randomUUID() };
    expect((await send(REVOKED, subjectOf(person), { claims })).status).toBe(202);
    const cli = await createCliUser();
    const variables = { ...fixture.env, ...fixture.store.env };
    const lines = (await cli.run(['audit', '--json'], variables)).stdout.trim().split('\n');
    const table = (await cli.run(['audit'], variables)).stdout;
    const events = lines.map((line) => JSON.parse(line) as Json);
    expect(events).toContainEqual(
      expect.objectContaining({
        ...{ kind: 'all-tokens-revoked', accountId: person.accountId },
        ...{ issuer: transmitter.issuer, signalTxn: claims.txn },
      }),
    );
    expect(table).toContain(`${transmitter.issuer} ${claims.txn}`);
  });

  it('ends one session of the provider alone', async () => {
    const [here, there] = [randomUUID(), randomUUID()];
    const person = await fixture.keylessLogin(one, randomUUID(), here);
    const again = await fixture.keylessLogin(one, person.sub, there);
    const session = { format: 'opaque', id: here };
    const claims = { txn: randomUUID() };
    expect((await send(REVOKED, { user: subjectOf(person), session }, { claims })).status).toBe(
      202,
    );
    const by = { ...ofSignal(), account_id: person.accountId, subject: null };
    expect(await auditOf(claims.txn)).toEqual([{ ...by, kind: 'token-revoked' }]);
    await fixture.until('401', async () => (await fixture.statusOf(other, person)) === 401);
    expect(await fixture.statusOf(other, again)).toBe(200);
  });

  it('keeps a disabled person out until the account is enabled, whatever re-checks say', async () => {
    const person = await fixture.keylessLogin(one);
    expect((await send(DISABLED, subjectOf(person), EARLIER)).status).toBe(202);
    await fixture.until('401', async () => (await fixture.statusOf(other, person)) === 401);
    await fixture.makeDue();
    const checks = (): number => fixture.provider.checks.get(person.sub) ?? 0;
    await fixture.until('checked', () => checks() > 0);
    const { rows } = await fixture.sql.query(
      `SELECT is_allowed FROM identity_signal WHERE subject = $1 AND source = 'shared-signals'`,
      [person.sub],
    );
    expect(rows).toEqual([{ is_allowed: false }]);
    const before = checks();
    expect((await send(ENABLED, subjectOf(person))).status).toBe(202);
    // The login replaces the refresh token of a check that has not used it yet.
    await fixture.until('checked again', () => checks() > before);
    const again = await fixture.keylessLogin(one, person.sub);
    expect(await fixture.statusOf(other, again)).toBe(200);
  });

  it('refuses the login of a disabled person', async () => {
    const person = await fixture.keylessLogin(one);
    expect((await send(DISABLED, subjectOf(person))).status).toBe(202);
    await expect(fixture.keylessLogin(other, person.sub)).rejects.toThrow();
    const { rows } = await fixture.sql.query(
      `SELECT reason FROM audit_event WHERE kind = 'login-refused' AND subject = $1`,
      [person.sub],
    );
    expect(rows).toEqual([{ reason: 'signal_disabled' }]);
  });

  it('keeps a disabled person out who had never logged in', async () => {
    const sub = randomUUID();
    const claims = { ...EARLIER.claims, txn: randomUUID() };
    expect((await send(DISABLED, subjectOf({ sub }), { claims })).status).toBe(202);
    const by = { ...ofSignal(), account_id: null, subject: sub };
    expect(await auditOf(claims.txn)).toEqual([{ ...by, kind: 'eligibility-lost' }]);
    await expect(fixture.keylessLogin(one, sub)).rejects.toThrow();
    expect((await send(ENABLED, subjectOf({ sub }))).status).toBe(202);
    await fixture.keylessLogin(one, sub);
  });

  it('orders events by their time: the newest wins, on a tie the refusal', async () => {
    // Without an identity, so that no re-check uses up a refresh token meanwhile.
    const person = { sub: randomUUID() };
    const now = secondsAgo(0);
    const at = (seconds: number): EventChanges => ({ event: { event_timestamp: now - seconds } });
    await send(DISABLED, subjectOf(person), at(100));
    await send(ENABLED, subjectOf(person), at(200));
    await expect(fixture.keylessLogin(one, person.sub)).rejects.toThrow();
    await send(ENABLED, subjectOf(person), at(100));
    await expect(fixture.keylessLogin(one, person.sub)).rejects.toThrow();
    await send(ENABLED, subjectOf(person), at(50));
    await fixture.keylessLogin(one, person.sub);
    await send(DISABLED, subjectOf(person), at(60));
    await fixture.keylessLogin(one, person.sub);
  });

  it.each([`${CAEP}credential-change`, `${CAEP}token-claims-change`])(
    're-checks the person for %s',
    async (type) => {
      const person = await fixture.keylessLogin(one);
      fixture.provider.groups.delete(person.sub);
      const claims = { txn: randomUUID() };
      expect((await send(type, subjectOf(person), { claims })).status).toBe(202);
      const by = { ...ofSignal(), account_id: person.accountId, subject: null };
      expect(await auditOf(claims.txn)).toEqual([{ ...by, kind: 'recheck-requested' }]);
      await fixture.until('403', async () => (await fixture.statusOf(other, person)) === 403);
    },
  );

  it('forgets the e-mail address for identifier-changed', async () => {
    const person = await fixture.keylessLogin(one);
    const email = `${person.sub}@example.com`;
    await fixture.sql.query(`UPDATE identity SET facts = facts || $2 WHERE subject = $1`, [
      person.sub,
      JSON.stringify({ email, emailVerified: true }),
    ]);
    fixture.provider.isDown = true;
    expect((await send(`${RISC}identifier-changed`, { format: 'email', email })).status).toBe(202);
    const { rows } = await fixture.sql.query<{ facts: Json }>(
      'SELECT facts FROM identity WHERE subject = $1',
      [person.sub],
    );
    fixture.provider.isDown = false;
    expect(rows[0]?.facts).toMatchObject({ email: null, emailVerified: false });
  });

  it('counts events of risk, or ends the sessions where the operator says so', async () => {
    const strict = await fixture.start(envWith({ riskEvents: 'end-sessions' }));
    const type = `${CAEP}risk-level-change`;
    const person = await fixture.keylessLogin(one);
    expect((await send(type, subjectOf(person))).status).toBe(202);
    expect(await fixture.statusOf(one, person)).toBe(200);
    const device = { format: 'complex', device: { format: 'opaque', id: 'of-nobody' } };
    expect((await send(`${CAEP}device-compliance-change`, device)).status).toBe(202);
    const event = await transmitter.event(type, subjectOf(person));
    expect((await push(event, strict)).status).toBe(202);
    await fixture.until('401', async () => (await fixture.statusOf(one, person)) === 401);
  });

  it('ends the sessions of both people of an address', async () => {
    const people = [await fixture.keylessLogin(one), await fixture.keylessLogin(one)];
    const email = `${randomUUID()}@example.com`;
    await fixture.sql.query(`UPDATE identity SET facts = facts || $2 WHERE subject = ANY($1)`, [
      people.map(({ sub }) => sub),
      JSON.stringify({ email, emailVerified: true }),
    ]);
    const statuses = () => Promise.all(people.map((person) => fixture.statusOf(one, person)));
    expect((await send(REVOKED, { format: 'email', email })).status).toBe(202);
    await fixture.until('401', async () => (await statuses()).every((status) => status === 401));
  });

  it.each<[string, string, EventChanges]>([
    ['is unsigned', 'invalid_request', { isUnsigned: true }],
    ['is forged', 'invalid_key', { isForged: true }],
    ['has an unknown key', 'invalid_key', { header: { kid: 'unknown' } }],
    ['is an ID token', 'invalid_request', { header: { typ: 'JWT' } }],
    ['has no type', 'invalid_request', { header: { typ: undefined } }],
    ['is of another issuer', 'invalid_issuer', { claims: { iss: 'https://else.example' } }],
    ['is for another audience', 'invalid_audience', { claims: { aud: 'else' } }],
    ['has a subject of an access token', 'invalid_request', { claims: { sub: 's' } }],
    ['has an expiry', 'invalid_request', { claims: { exp: secondsAgo(-600) } }],
    ['is of the future', 'invalid_request', { claims: { iat: secondsAgo(-600) } }],
    ['is eight days old', 'invalid_request', { claims: { iat: secondsAgo(8 * 86_400) } }],
    ['has no time', 'invalid_request', { claims: { iat: undefined } }],
    ['has no id', 'invalid_request', { claims: { jti: undefined } }],
    ['has a null character', 'invalid_request', { claims: { jti: 'a\0b' } }],
    ['happened before all time', 'invalid_request', { event: { event_timestamp: -1e300 } }],
    ['has no event', 'invalid_request', { claims: { events: {} } }],
    ['has two events', 'invalid_request', { claims: { events: { [REVOKED]: {}, x: {} } } }],
    ['has no subject', 'invalid_request', { claims: { sub_id: undefined } }],
    [
      'has a malformed subject',
      'invalid_request',
      { claims: { sub_id: { format: 'opaque', id: 'a\0b' } } },
    ],
  ])('refuses an event that %s with %s', async (_what, err, changes) => {
    const person = await fixture.keylessLogin(one);
    const answer = await send(REVOKED, subjectOf(person), changes);
    expect([answer.status, answer.body['err']]).toEqual([400, err]);
    expect(typeof answer.body['description']).toBe('string');
    expect(await fixture.statusOf(one, person)).toBe(200);
  });

  it.each([
    ['a number', { txn: 8_675_309 }, '8675309'],
    ['a null character', { txn: 'a\0b' }, null],
    ['513 characters', { txn: 'x'.repeat(513) }, null],
    ['an object', { txn: {} }, null],
    ['a time that is a text', { txn: undefined, toe: 'now' }, null],
    ['a time before all time', { txn: undefined, toe: -1 }, null],
  ])('loses no event by a txn or toe that is unusable: %s', async (_what, claims, signalTxn) => {
    const person = await fixture.keylessLogin(one);
    expect((await send(DISABLED, subjectOf(person), { claims })).status).toBe(202);
    expect(await fixture.statusOf(one, person)).not.toBe(200);
    const { rows } = await fixture.sql.query<Json>(
      `SELECT DISTINCT signal_txn FROM audit_event WHERE account_id = $1 AND issuer = $2`,
      [person.accountId, transmitter.issuer],
    );
    expect(rows).toEqual([{ signal_txn: signalTxn }]);
  });

  it('refuses requests without the token of the stream, other types and other providers', async () => {
    const person = await fixture.keylessLogin(one);
    const event = await transmitter.event(REVOKED, subjectOf(person));
    for (const token of ['', 'x'.repeat(40)]) {
      const answer = await push(event, one, token);
      expect([answer.status, answer.body['err']]).toEqual([401, 'authentication_failed']);
      expect(answer.headers['www-authenticate']).toBe('Bearer');
    }
    const json = { headers: { 'content-type': 'application/json' }, body: '{}' };
    const typed = await call(one, 'POST', '/v1/signals/people', json);
    expect(typed.status).toBe(415);
    expect(typed.body['description']).toContain('application/secevent+jwt');
    expect((await push('', one)).body['err']).toBe('invalid_request');
    expect((await push('x'.repeat(20_000), one)).body['err']).toBe('invalid_request');
    const headers = { 'content-type': 'application/secevent+jwt' };
    const there = await call(one, 'POST', '/v1/signals/unknown', { body: event, headers });
    expect(there.status).toBe(404);
    expect(await fixture.statusOf(one, person)).toBe(200);
  });

  it('logs 50 refusals of strangers once', async () => {
    const linesIn = () => one.logs().split('security event refused').length - 1;
    const before = linesIn();
    const answers = await Promise.all(Array.from({ length: 50 }, () => push('x', one, 'y')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    await fixture.until('a line', () => one.logs().includes('"failure":"authentication_failed"'));
    expect(linesIn() - before).toBeLessThanOrEqual(1);
  });

  it('applies one of 50 simultaneous deliveries of an event, and accepts all', async () => {
    const person = await fixture.keylessLogin(one);
    const event = await transmitter.event(REVOKED, subjectOf(person));
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => push(event, at % 2 === 0 ? one : other)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(50).fill(202));
    const { rows } = await fixture.sql.query(
      `SELECT 1 FROM audit_event WHERE account_id = $1 AND kind = 'all-tokens-revoked'`,
      [person.accountId],
    );
    expect(rows).toHaveLength(1);
  });

  it('answers events about the stream and unknown ones, and counts all', async () => {
    const state = { event: { state: 'of-the-spec' } };
    const about = { format: 'opaque', id: 'stream' };
    expect((await send(`${SSF}verification`, about, state)).status).toBe(202);
    expect((await send(`${SSF}stream-updated`, undefined)).status).toBe(202);
    expect((await send('https://else.example/event', about)).status).toBe(202);
    const { text } = await call(one, 'GET', '/metrics', { token: PUSH_TOKEN });
    expect(text).toMatch(/shared_signals_total\{.*kind="verification",outcome="counted"\} 1/);
    expect(text).toMatch(/shared_signals_total\{.*kind="unsupported",outcome="counted"\} 1/);
    expect(text).toMatch(/shared_signals_total\{.*kind="refused",outcome="invalid_key"\} 2/);
    const { rows } = await fixture.sql.query(
      `SELECT provider FROM provider_signal WHERE kind = 'shared-signals'`,
    );
    expect(rows).toEqual([{ provider: 'people' }]);
  });

  it.each<[string, EventChanges]>([
    [
      'toe',
      {
        claims: { toe: secondsAgo(5000), iat: secondsAgo(90) },
        event: { event_timestamp: secondsAgo(90) },
      },
    ],
    [
      'event_timestamp',
      { claims: { iat: secondsAgo(90) }, event: { event_timestamp: secondsAgo(5000) } },
    ],
    ['iat', { claims: { iat: secondsAgo(5000) } }],
  ])('measures the lag of an event from its %s', async (_claim, changes) => {
    const lag = async (): Promise<number> => {
      const { text } = await call(one, 'GET', '/metrics', { token: PUSH_TOKEN });
      return Number(/shared_signals_lag_seconds_sum\{provider="people"\} (\S+)/.exec(text)?.[1]);
    };
    const before = await lag();
    expect((await send(`${SSF}stream-updated`, undefined, changes)).status).toBe(202);
    expect((await lag()) - before).toBeGreaterThanOrEqual(5000);
  });

  it('answers 503 while the keys cannot be read, and accepts the same event afterwards', async () => {
    const fresh = await fixture.start(envWith());
    transmitter.isDown = true;
    const person = await fixture.keylessLogin(fresh);
    const event = await transmitter.event(REVOKED, subjectOf(person));
    const refused = await push(event, fresh);
    expect(refused.status).toBe(503);
    expect(refused.headers).toHaveProperty('retry-after');
    transmitter.isDown = false;
    expect((await push(event, fresh)).status).toBe(202);
    expect(await fixture.statusOf(fresh, person)).toBe(401);
  });

  it('fetches the keys again for a rotated one', async () => {
    await transmitter.rotate('second');
    const person = await fixture.keylessLogin(one);
    expect((await send(REVOKED, subjectOf(person))).status).toBe(202);
    await fixture.until('401', async () => (await fixture.statusOf(one, person)) === 401);
  });
});
