import { createHmac } from 'node:crypto';
import { call } from '../../helpers/client.js';
import { OffboardingFixture } from '../../fixtures/offboarding-fixture.js';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const JSON_TYPE = { 'content-type': 'application/json' };
const SECRET = 'a-webhook-secret-of-the-spec';
const METRICS_TOKEN = 'a-metrics-token-of-the-spec';

const fixture = await OffboardingFixture.open();
const server = await fixture.start({
  GITHUB_CLIENT_ID: 'client',
  GITHUB_CLIENT_SECRET: 'secret',
  GITHUB_BASE_URL: 'http://127.0.0.1:9',
  AUTH_GITHUB_WEBHOOK_SECRET: SECRET,
  METRICS_TOKEN,
});
const person = await fixture.person(server);
afterAll(() => fixture.close());

describe('signals that providers push', () => {
  const logOut = (token: string, provider = 'people', headers = FORM) =>
    call(server, 'POST', `/v1/auth/backchannel-logout/${provider}`, {
      body: new URLSearchParams({ logout_token: token }).toString(),
      headers,
    });

  it('refuses a malformed logout token, and one for providers that send none', async () => {
    expect((await logOut('')).status).toBe(400);
    expect((await logOut('x.y.z')).status).toBe(400);
    expect((await logOut('x'.repeat(20_000))).status).toBe(400);
    expect((await logOut('x.y.z', 'github')).status).toBe(404);
    expect((await logOut('x.y.z', 'unknown')).status).toBe(404);
    const json = { 'content-type': 'application/json' };
    expect((await logOut('x.y.z', 'people', json)).status).toBe(415);
    expect((await call(server, 'POST', '/v1/auth', { body: 'a=b', headers: FORM })).status).toBe(
      415,
    );
    expect(fixture.provider.totalChecks).toBe(0);
  });

  const metrics = () => call(server, 'GET', '/metrics', { token: METRICS_TOKEN });
  /** Polls for stored answers: the provider counts a check earlier. */
  const untilStored = (count: number): Promise<void> => {
    const line = `gatehouse_eligibility_checks_total{provider="people",outcome="eligible"} ${count}\n`;
    return fixture.until('stored', async () => (await metrics()).text.includes(line));
  };

  it('accepts a logout token once, and answers the same about an unknown subject', async () => {
    const token = await fixture.provider.logoutToken(person.sub);
    const answers = await Promise.all(Array.from({ length: 10 }, () => logOut(token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([
      200,
      ...Array<number>(9).fill(400),
    ]);
    await untilStored(1);
    expect(fixture.provider.totalChecks).toBe(1);
    expect((await logOut(await fixture.provider.logoutToken('unknown-user'))).status).toBe(200);
    expect(fixture.provider.totalChecks).toBe(1);
  });

  it('accepts a logout token again that it could not act upon', async () => {
    const token = await fixture.provider.logoutToken(person.sub);
    const sql = await fixture.sql.connect();
    await sql.query('BEGIN');
    await sql.query(`SELECT FROM identity FOR UPDATE`);
    const fault = logOut(token);
    // The statement ends as a timeout would end it.
    await fixture.until('the server waits for the lock', async () => {
      const { rowCount } = await fixture.sql.query(
        `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`,
      );
      return rowCount !== 0;
    });
    expect((await fault).status).toBe(503);
    await sql.query('ROLLBACK');
    sql.release();
    expect((await logOut(token)).status).toBe(200);
    await untilStored(2);
  });

  const webhook = (name: string, payload: unknown, signature?: string) => {
    const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
    const hmac = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
    return call(server, 'POST', '/v1/auth/providers/github/webhook', {
      body,
      headers: {
        'content-type': 'application/json',
        'x-github-event': name,
        'x-hub-signature-256': signature ?? hmac,
      },
    });
  };

  it.each<[string, string]>([
    ['/v1/auth/providers/github/webhook', 'invalid-signature'],
    ['/v1/auth/backchannel-logout/people', 'invalid-request'],
  ])('refuses a request to %s that has no body, with a type or without', async (path, code) => {
    for (const headers of [{}, { 'content-length': '0' }, FORM, JSON_TYPE]) {
      const answer = await call(server, 'POST', path, { headers });
      const isOtherType = answer.status === 415;
      expect(answer.body).toMatchObject({ code: isOtherType ? 'unsupported-media-type' : code });
      expect(isOtherType).toBe(headers === (path.endsWith('webhook') ? FORM : JSON_TYPE));
    }
  });

  it('refuses a webhook without a body, even with a valid signature of nothing', async () => {
    const hmac = createHmac('sha256', SECRET).update('').digest('hex');
    const headers = { 'x-hub-signature-256': `sha256=${hmac}`, 'x-github-event': 'membership' };
    const answer = await call(server, 'POST', '/v1/auth/providers/github/webhook', { headers });
    expect(answer.body).toMatchObject({ statusCode: 400, code: 'invalid-request' });
  });

  /** The job judges a due identity within moments: without a user token it waits for the next login. */
  const isDueOrJudged = async (): Promise<boolean> => {
    const { rowCount } = await fixture.sql.query(
      `SELECT 1 FROM identity WHERE provider = 'github' AND subject = '4711'
       AND (eligibility_next_check_at < now() + interval '30 minutes'
         OR eligibility_reason = 'no_user_token')`,
    );
    return rowCount === 1;
  };

  const leavings: [string, object][] = [
    ['organization', { action: 'member_removed', membership: { user: { id: 4711 } } }],
    ['membership', { action: 'removed', member: { id: 4711 } }],
    ['github_app_authorization', { action: 'revoked', sender: { id: 4711 } }],
  ];
  it.each(leavings)('makes a GitHub identity due on %s', async (name, payload) => {
    await fixture.sql.query(`DELETE FROM identity WHERE provider = 'github'`);
    await fixture.sql.query(
      `INSERT INTO identity (id, account_id, provider, subject, connected_at, eligibility_status,
         eligibility_next_check_at)
       VALUES (gen_random_uuid(), $1, 'github', '4711', now(), 'eligible', now() + interval '1 hour')`,
      [person.accountId],
    );
    const evil = `sha256=${'0'.repeat(64)}`;
    for (const signature of [evil, '', 'sha1=00', 'sha256=', `${evil}0`]) {
      expect((await webhook(name, payload, signature)).body).toMatchObject({
        code: 'invalid-signature',
      });
    }
    expect((await webhook(name, { ...payload, action: 'added' })).status).toBe(200);
    expect((await webhook('ping', payload)).status).toBe(200);
    expect((await webhook('toString', payload)).status).toBe(200);
    expect((await webhook(name, '{not json')).status).toBe(400);
    expect((await webhook(name, 'null')).status).toBe(200);
    const received = `SELECT kind FROM provider_signal WHERE received_at > now() - interval '1 hour'`;
    const { rows } = await fixture.sql.query(`${received} AND provider = 'github'`);
    expect(rows).toEqual([{ kind: 'webhook' }]);
    expect(await isDueOrJudged()).toBe(false);
    expect((await webhook(name, payload)).status).toBe(200);
    await fixture.until('due or judged', isDueOrJudged);
  });

  it('counts signals in the metrics, for a scraper with the token', async () => {
    expect((await call(server, 'GET', '/metrics')).status).toBe(401);
    expect((await call(server, 'GET', '/metrics', { token: `${METRICS_TOKEN}x` })).status).toBe(
      401,
    );
    await call(server, 'POST', '/v1/auth', { body: {} });
    const page = await metrics();
    expect(page.status).toBe(200);
    for (const line of [
      'gatehouse_auth_login_total{method="key_challenge",outcome="ok",reason=""} 1',
      'gatehouse_auth_login_total{method="key_challenge",outcome="refused",reason="invalid-request"} 1',
      'gatehouse_eligibility_checks_total{provider="people",outcome="eligible"} 2',
      'gatehouse_auth_access_cache_total{result="hit"}',
      'gatehouse_revocation_seconds_count 0',
      'gatehouse_eligibility_oldest_check_seconds',
      'gatehouse_live_connections 0',
      'gatehouse_database_pool_connections',
      'gatehouse_http_request_duration_seconds_count{method="POST",route="/v1/auth",status="400"} 1',
    ]) {
      expect(page.text).toContain(line);
    }
  });
});
