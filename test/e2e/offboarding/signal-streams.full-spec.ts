import { randomUUID } from 'node:crypto';
import { CAEP, RISC, SSF, SsfTransmitter, type EventChanges } from '../../fakes/ssf-transmitter.js';
import { KEYLESS, OffboardingFixture, type Person } from '../../fixtures/offboarding-fixture.js';
import { createCliUser, type CliUser } from '../../fixtures/programs/cli-fixture.js';
import { type Server } from '../../fixtures/programs/server-fixture.js';
import { call, type Json } from '../../helpers/client.js';

const AUDIENCE = 'https://gate.example.com';
const TOKEN = 'a-management-token-of-the-spec-of-streams';
const PUSH_TOKENS = 'the-former-token-of-the-deliveries\nthe-newest-token-of-the-deliveries';
const REVOKED = `${CAEP}session-revoked`;
const DISABLED = `${RISC}account-disabled`;

interface Kind {
  readonly delivery: 'poll' | 'push';
  readonly settings: (transmitter: SsfTransmitter) => object;
}

/** The receiver modules of the OpenID conformance suite, by what their descriptions ask for. */
describe.each<[string, Kind]>([
  [
    'polls, with tokens of an OAuth client',
    {
      delivery: 'poll',
      settings: ({ tokenUrl }) => ({
        delivery: 'poll',
        managementClient: { tokenUrl, clientId: 'gatehouse', clientSecret: 'secret' },
      }),
    },
  ],
  [
    'receives pushes, with a management token',
    { delivery: 'push', settings: () => ({ managementToken: TOKEN, pushToken: PUSH_TOKENS }) },
  ],
])('a stream of security events that %s (needs PostgreSQL and Redis)', (_title, kind) => {
  let fixture: OffboardingFixture;
  let transmitter: SsfTransmitter;
  let cli: CliUser;
  let servers: [Server, Server];
  const env = (): Record<string, string> => ({
    ...KEYLESS,
    AUTH_PROVIDERS_CONFIG_JSON: fixture.providers({
      signals: {
        sharedSignals: {
          ...{ transmitter: transmitter.issuer, audience: AUDIENCE },
          ...kind.settings(transmitter),
        },
      },
    }),
    METRICS_TOKEN: TOKEN,
  });

  beforeAll(async () => {
    fixture = await OffboardingFixture.open();
    transmitter = await SsfTransmitter.start(AUDIENCE);
    cli = await createCliUser();
    servers = [await fixture.start(env()), await fixture.start(env())];
    transmitter.pushOrigin = servers[0].url;
  });
  afterAll(async () => {
    await fixture.close();
    await transmitter.close();
  });

  const connect = async (...options: string[]) => {
    const variables = { ...fixture.env, ...env(), ...fixture.store.env };
    const result = await cli.run(['signals', 'connect', 'people', ...options, '--json'], {
      ...variables,
    });
    const text = result.code === 0 ? result.stdout : result.stderr;
    const body = JSON.parse(text.trim().split('\n').at(-1) ?? '') as Json;
    return { code: result.code, body: (body['error'] ?? body) as Json };
  };
  const subjectOf = ({ sub }: Pick<Person, 'sub'>) => ({
    ...{ format: 'iss_sub', iss: fixture.provider.issuer, sub },
  });
  const transmit = (type: string, subject: unknown, changes?: EventChanges) =>
    transmitter.transmit(type, subject, changes);
  /** Waits until the transmitter knows that the event was accepted. */
  const accepted = async ({ jti, answer }: Awaited<ReturnType<typeof transmit>>): Promise<void> => {
    if (answer !== null) {
      expect(answer.status).toBe(202);
      return;
    }
    await fixture.until('acknowledged', () => transmitter.stream.acknowledged.includes(jti));
  };
  /** Returns the error that the receiver reported. */
  const refusal = async ({ jti, answer }: Awaited<ReturnType<typeof transmit>>) => {
    if (answer !== null) {
      const { err, description } = (await answer.json()) as Json;
      expect(typeof description).toBe('string');
      return err;
    }
    await fixture.until('reported', () => transmitter.stream.errors.has(jti));
    expect(transmitter.stream.acknowledged).not.toContain(jti);
    return transmitter.stream.errors.get(jti);
  };
  const rowOf = async (): Promise<Json> => {
    const { rows } = await fixture.sql.query<Json>('SELECT * FROM signal_stream');
    return rows[0] ?? {};
  };

  it('rejects a stream that names another issuer, and stores nothing', async () => {
    transmitter.streamIssuer = 'https://else.example';
    expect(await connect()).toMatchObject({ code: 4, body: { code: 'transmitter-unavailable' } });
    transmitter.streamIssuer = null;
    transmitter.streams.clear();
    expect(await rowOf()).toEqual({});
  });

  it('makes the stream, adopts its audience, and waits for the verification event', async () => {
    const made = await connect();
    expect(made).toMatchObject({
      code: 0,
      body: { provider: 'people', audiences: [`${AUDIENCE}/of-the-stream`], status: 'enabled' },
    });
    const { delivery, requested } = transmitter.stream;
    expect(requested).toEqual(expect.arrayContaining([REVOKED, DISABLED]));
    if (kind.delivery === 'push') {
      expect(delivery).toEqual({
        method: 'urn:ietf:rfc:8935',
        endpoint_url: 'http://127.0.0.1:1/v1/signals/people',
        authorization_header: 'Bearer the-newest-token-of-the-deliveries',
      });
    }
  });

  it('finds its stream again, and enables it', async () => {
    transmitter.stream.status = 'paused';
    await fixture.sql.query('DELETE FROM signal_stream');
    expect((await connect()).code).toBe(0);
    expect(transmitter.streams.size).toBe(1);
    expect(transmitter.stream.status).toBe('enabled');
  });

  it('shows the stream, as the transmitter describes it', async () => {
    transmitter.stream.reason = 'For a reason.';
    const shown = await connect('--show');
    expect(shown.body).toMatchObject({ status: 'enabled', reason: 'For a reason.' });
    expect(shown.body['events']).toContain(REVOKED);
    expect(JSON.stringify(shown.body)).not.toContain('tate"');
  });

  it.each(['email', 'iss_sub'])(
    'ends sessions for an event about an %s subject',
    async (format) => {
      const person = await fixture.keylessLogin(servers[0]);
      const email = `${person.sub}@example.com`;
      await fixture.sql.query(`UPDATE identity SET facts = facts || $2 WHERE subject = $1`, [
        person.sub,
        JSON.stringify({ email, emailVerified: true }),
      ]);
      await accepted(
        await transmit(REVOKED, format === 'email' ? { format, email } : subjectOf(person)),
      );
      await fixture.until(
        'the end',
        async () => (await fixture.statusOf(servers[1], person)) === 401,
      );
    },
  );

  it('accepts events of every kind that CAEP, RISC and SSF define', async () => {
    const caep = ['credential-change', 'token-claims-change', 'assurance-level-change'];
    const more = ['device-compliance-change', 'risk-level-change', 'session-established'];
    const risc = ['account-enabled', 'identifier-changed', 'identifier-recycled', 'opt-in'];
    const subject = subjectOf({ sub: randomUUID() });
    for (const type of [
      ...[...caep, ...more].map((name) => `${CAEP}${name}`),
      ...[...risc, 'account-purged', 'credential-compromise'].map((name) => `${RISC}${name}`),
    ]) {
      const event = { change_type: 'revoke', credential_type: 'fido2-roaming', any: { other: 1 } };
      await accepted(await transmit(type, subject, { event }));
    }
  });

  it.each<[string, string, EventChanges]>([
    ['whose signature is forged', 'invalid_key', { isForged: true }],
    ['for the audience before the stream', 'invalid_audience', { claims: { aud: AUDIENCE } }],
  ])('reports an event %s as %s, and goes on', async (_what, err, changes) => {
    const person = await fixture.keylessLogin(servers[0]);
    expect(await refusal(await transmit(REVOKED, subjectOf(person), changes))).toBe(err);
    expect(await fixture.statusOf(servers[0], person)).toBe(200);
    await accepted(await transmit(REVOKED, subjectOf(person)));
  });

  it('reports an event with a repeated claim as invalid_request, and goes on', async () => {
    const person = await fixture.keylessLogin(servers[0]);
    const claims = { aud: transmitter.stream.audience };
    const token = await transmitter.event(REVOKED, subjectOf(person), { claims });
    const repeated = transmitter.reworded(token, (text) => text.replace('{', '{"iat":1,'));
    expect(await refusal(await transmitter.enqueue(repeated))).toBe('invalid_request');
    await accepted(await transmit(REVOKED, subjectOf(person)));
  });

  it('refuses a verification event with another state or about another stream', async () => {
    const subject = { format: 'opaque', id: transmitter.stream.id };
    const wrong = { event: { state: 'of-another-request' } };
    expect(await refusal(await transmit(`${SSF}verification`, subject, wrong))).toBe(
      'invalid_state',
    );
    const { verification_state: state } = await rowOf();
    const other = { format: 'opaque', id: randomUUID() };
    expect(await refusal(await transmit(`${SSF}verification`, other, { event: { state } }))).toBe(
      'invalid_request',
    );
    const before = (await rowOf())['verified_at'] as Date;
    await accepted(await transmit(`${SSF}verification`, subject));
    expect(((await rowOf())['verified_at'] as Date).getTime()).toBeGreaterThan(before.getTime());
  });

  it('acknowledges a verification event behind others', async () => {
    const sent = [await transmit(DISABLED, subjectOf({ sub: randomUUID() }))];
    sent.push(await transmit(DISABLED, subjectOf({ sub: randomUUID() })));
    expect((await connect('--verify')).code).toBe(0);
    await Promise.all(sent.map(accepted));
  });

  it('shows that the transmitter pauses the stream, and enables it again', async () => {
    const subject = { format: 'opaque', id: transmitter.stream.id };
    const status = async () => {
      const { text } = await call(servers[1], 'GET', '/metrics', { token: TOKEN });
      return /signal_stream_state\{provider="people",state="(\w+)"/.exec(text)?.[1];
    };
    const paused = { event: { status: 'paused', reason: 'Maintenance.' } };
    await accepted(await transmit(`${SSF}stream-updated`, subject, paused));
    expect(await status()).toBe('paused');
    await accepted(
      await transmit(`${SSF}stream-updated`, subject, { event: { status: 'enabled' } }),
    );
    expect(await status()).toBe('enabled');
    const unknown = { event: { status: 'asleep' } };
    expect(await refusal(await transmit(`${SSF}stream-updated`, subject, unknown))).toBe(
      'invalid_request',
    );
  });

  it('stores a pause with its event, so that a repeated delivery does', async () => {
    await fixture.sql.query(`
      CREATE SEQUENCE tries;
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM nextval('tries'); RAISE 'of the spec'; END $$;
      CREATE TRIGGER fails BEFORE UPDATE OF status ON signal_stream
        FOR EACH ROW EXECUTE FUNCTION fail()`);
    const subject = { format: 'opaque', id: transmitter.stream.id };
    const changes = { claims: { aud: transmitter.stream.audience }, event: { status: 'paused' } };
    const token = await transmitter.event(`${SSF}stream-updated`, subject, changes);
    const sent = await transmitter.enqueue(token);
    await fixture.until('a failed try', async () => {
      const { rows } = await fixture.sql.query<Json>('SELECT is_called FROM tries');
      return rows[0]?.['is_called'] === true;
    });
    await fixture.sql.query('DROP FUNCTION fail CASCADE; DROP SEQUENCE tries');
    await accepted(sent.answer === null ? sent : await transmitter.enqueue(token));
    expect((await rowOf())['status']).toBe('paused');
    await accepted(
      await transmit(`${SSF}stream-updated`, subject, { event: { status: 'enabled' } }),
    );
  });

  it('renews its token before the end, and when it is refused', async () => {
    transmitter.tokenSeconds = 10;
    transmitter.tokens.clear();
    transmitter.tokens.add(TOKEN);
    await accepted(await transmit(DISABLED, subjectOf({ sub: randomUUID() })));
    expect((await connect('--show')).code).toBe(0);
  });

  it('accepts what waited for three hours while the transmitter was away', async () => {
    const person = await fixture.keylessLogin(servers[0]);
    transmitter.isDown = true;
    if (kind.delivery === 'poll') {
      await fixture.until('the failure', async () => (await rowOf())['failure'] === 'server_error');
    }
    const claims = { iat: Math.floor(Date.now() / 1000) - 3 * 3600 };
    // The person logged in before the event.
    await fixture.sql.query(
      `UPDATE identity_signal SET at = at - interval '4 hours' WHERE subject = $1`,
      [person.sub],
    );
    transmitter.isDown = false;
    await accepted(await transmit(REVOKED, subjectOf(person), { claims }));
    await fixture.until('401', async () => (await fixture.statusOf(servers[0], person)) === 401);
    expect((await rowOf())['failure']).toBeNull();
  });

  if (kind.delivery === 'poll') {
    it('polls with one replica at a time', () => {
      expect(transmitter.mostPolls).toBe(1);
    });

    it('lets another replica go on when the polling one is killed, and loses no event', async () => {
      const [first] = servers;
      const people = [await fixture.keylessLogin(first), await fixture.keylessLogin(first)];
      const spare = await fixture.start(env());
      await fixture.sql.query(
        `UPDATE signal_stream SET leased_until = now() + interval '1 second'`,
      );
      const sent = await Promise.all(people.map((person) => transmit(REVOKED, subjectOf(person))));
      await Promise.all(servers.map((server) => server.kill('SIGKILL')));
      // The lease of a killed replica ends by itself.
      await fixture.sql.query(`UPDATE signal_stream SET leased_until = now()`);
      await Promise.all(sent.map(accepted));
      for (const person of people) {
        await fixture.until('401', async () => (await fixture.statusOf(spare, person)) === 401);
      }
      servers = [spare, spare];
    });

    it('makes another stream, and re-checks everyone, when the transmitter lost it', async () => {
      const person = await fixture.keylessLogin(servers[0]);
      fixture.provider.groups.delete(person.sub);
      transmitter.streams.clear();
      await fixture.until('403', async () => (await fixture.statusOf(servers[0], person)) === 403);
      await fixture.until('another stream', () => transmitter.streams.size === 1);
      const next = await fixture.keylessLogin(servers[0]);
      await fixture.until(
        'stored',
        async () => (await rowOf())['stream_id'] === transmitter.stream.id,
      );
      await accepted(await transmit(REVOKED, subjectOf(next)));
    });

    it('re-checks everyone again where it could make the other stream only later', async () => {
      const person = await fixture.keylessLogin(servers[0]);
      transmitter.streamIssuer = 'https://else.example';
      transmitter.streams.clear();
      await fixture.until('the loss', async () => (await rowOf())['status'] === 'missing');
      await fixture.until('a re-check', () => fixture.provider.checks.has(person.sub));
      // No stream has the event about it.
      fixture.provider.groups.delete(person.sub);
      transmitter.streams.clear();
      transmitter.streamIssuer = null;
      await fixture.until('403', async () => (await fixture.statusOf(servers[0], person)) === 403);
      await fixture.until(
        'stored',
        async () => (await rowOf())['stream_id'] === transmitter.stream.id,
      );
    });
  }

  it('loses no event that is signed with a new key while the keys cannot be read', async () => {
    const [first] = servers;
    const people = await Promise.all(Array.from({ length: 8 }, () => fixture.keylessLogin(first)));
    const claims = { aud: transmitter.stream.audience };
    const other = await fixture.keylessLogin(first);
    const signedBefore = await transmitter.event(REVOKED, subjectOf(other), { claims });
    await transmitter.rotate(randomUUID());
    transmitter.areKeysDown = true;
    const tokens = await Promise.all(
      people.map((person, at) =>
        // One transmitter names its keys, another one does not.
        transmitter.event(DISABLED, subjectOf(person), {
          ...{ claims, header: at === 0 ? { kid: undefined } : {} },
        }),
      ),
    );
    const reported = transmitter.stream.errors.size;
    for (const token of tokens) {
      const { answer } = await transmitter.enqueue(token);
      expect(answer?.status ?? 503).toBe(503);
      expect(answer?.headers.get('retry-after')).not.toBeNull();
    }
    // An event that was signed with a known key does not wait for the others.
    await accepted(await transmitter.enqueue(signedBefore));
    await fixture.until('401', async () => (await fixture.statusOf(first, other)) === 401);
    transmitter.areKeysDown = false;
    for (const token of kind.delivery === 'push' ? tokens : []) {
      await fixture.until('accepted', async () => {
        const { answer } = await transmitter.enqueue(token);
        return answer?.status === 202;
      });
    }
    for (const person of people) {
      await fixture.until('401', async () => (await fixture.statusOf(first, person)) === 401);
    }
    expect(transmitter.stream.errors.size).toBe(reported);
  });

  it('removes the stream, here and at the transmitter', async () => {
    expect((await connect('--remove')).body).toMatchObject({ removed: true });
    expect(transmitter.streams.size).toBe(0);
    expect(await rowOf()).toEqual({});
    expect(await connect('--show')).toMatchObject({ code: 1, body: { code: 'not-found' } });
  });

  it('explains a refused credential and an entry without one', async () => {
    transmitter.tokens.clear();
    if (kind.delivery === 'push') {
      expect(await connect()).toMatchObject({ code: 1, body: { code: 'stream-unauthorized' } });
    }
    const variables = { ...fixture.env, ...fixture.store.env };
    const { code, stderr } = await cli.run(['signals', 'connect', 'people', '--json'], variables);
    expect(code).toBe(1);
    expect(stderr).toContain('not-configured');
  });
});
