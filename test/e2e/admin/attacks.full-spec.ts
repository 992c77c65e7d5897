import { randomUUID } from 'node:crypto';
import { createCliUser } from '../../fixtures/programs/cli-fixture.js';
import { call, expectErrorShape, logIn, refusalOf, type Json } from '../../helpers/client.js';
import { type Server } from '../../fixtures/programs/server-fixture.js';
import {
  AdminCalls,
  AdminTokensFile,
  adminUrlOf,
  logInWithBrowser,
  sessionCookieOf,
} from '../../fixtures/admin-fixture.js';
import { begin } from '../../fixtures/provider-login-fixture.js';
import { callFrom, mtlsEnv, PROXY, STRANGER } from '../../fixtures/certificate-login-fixture.js';
import { OffboardingFixture } from '../../fixtures/offboarding-fixture.js';

const LIMIT = 40;
const LIMITED = { status: 429, code: 'rate-limited' };
const CLIENT = '203.0.113.7';

describe('attacks on administrators and refused people', () => {
  let fixture: OffboardingFixture;
  let tokens: AdminTokensFile;
  let server: Server;
  let url: string;
  let reader: AdminCalls;

  beforeEach(async () => {
    [fixture, tokens] = await Promise.all([OffboardingFixture.open(), AdminTokensFile.create()]);
  });
  afterEach(() => fixture.close());

  const start = async (env: Readonly<Record<string, string>> = {}): Promise<void> => {
    server = await fixture.start({
      ...tokens.env,
      ADMIN_TRUSTED_PROXIES: PROXY,
      ADMIN_PUBLIC_URL: 'http://console.example',
      ADMIN_LOGIN_PROVIDER: 'people',
      ADMIN_LOGIN_OPERATE_GROUPS: 'admins',
      SERVICE_TRUSTED_PROXIES: PROXY,
      ...env,
    });
    url = await adminUrlOf(server);
    reader = new AdminCalls(url, tokens.reader);
  };

  const from = (peer: string, token: string, forwarded?: string, path = '/me') =>
    callFrom(
      peer,
      { url },
      [
        ['authorization', `Bearer ${token}`],
        ...(forwarded === undefined ? [] : [['x-forwarded-for', forwarded] as const]),
      ],
      'GET',
      `/admin/v1${path}`,
    );

  const events = async (query: string): Promise<Json[]> => {
    const { status, body } = await reader.get(`/audit?${query}`);
    expect(status).toBe(200);
    return body['events'] as Json[];
  };

  /** Counts are written when the server stops, at the latest. */
  const refusedCalls = async () => {
    await server.kill('SIGTERM');
    const { rows } = await fixture.sql.query<Record<string, unknown>>(
      `SELECT actor, address, reason, sum(count)::int AS count, count(*)::int AS rows
       FROM audit_event WHERE kind = 'admin-refused' GROUP BY 1, 2, 3 ORDER BY 2, 3`,
    );
    return rows;
  };

  const logInAs = (sub: string, headers: Readonly<Record<string, string>> = {}) =>
    logInWithBrowser(url, (address) => fixture.provider.authorize(address, sub), headers);

  it('serves valid callers while strangers at their address are refused', async () => {
    await start({ ADMIN_RATE_LIMIT_PER_MINUTE: `${LIMIT}` });
    fixture.provider.groups.set('ada', ['admins']);
    const cookie = sessionCookieOf(await logInAs('ada'));
    const browser = { cookie, host: 'console.example', 'sec-fetch-site': 'same-origin' };
    const asBrowser = () => call({ url }, 'GET', '/admin/v1/me', { headers: browser });
    expect((await asBrowser()).body).toMatchObject({ name: 'people:ada' });

    const strangers = Array.from({ length: 50 }, async () => {
      const answers = [];
      for (let index = 0; index < 4; index += 1) {
        answers.push(await call({ url }, 'GET', '/admin/v1/accounts', { token: randomUUID() }));
      }
      return answers;
    });
    const between = [];
    for (let index = 0; index < 15; index += 1) {
      between.push((await reader.get('/me')).status, (await asBrowser()).status);
    }
    const refused = (await Promise.all(strangers)).flat().map(refusalOf);
    expect(refused).toContainEqual(LIMITED);
    expect(new Set(between)).toEqual(new Set([200]));

    const own = await Promise.all(Array.from({ length: 2 * LIMIT }, () => reader.get('/me')));
    const limited = own.filter(({ status }) => status === 429);
    expect(limited.length).toBeGreaterThan(0);
    for (const answer of limited) {
      expectErrorShape(answer);
      expect(answer.body['code']).toBe('rate-limited');
      const seconds = Number(answer.headers['retry-after']);
      expect(seconds).toBeGreaterThanOrEqual(1);
      expect(seconds).toBeLessThanOrEqual(60);
    }
    const operator = new AdminCalls(url, tokens.operator);
    expect((await operator.get('/me')).status).toBe(200);
    expect((await from(PROXY, tokens.reader)).status).toBe(200);
    expect((await call(server, 'GET', '/v1/features')).status).toBe(200);

    const rows = await refusedCalls();
    const total = rows.reduce((sum, { count }) => sum + Number(count), 0);
    expect(total).toBe(200 + limited.length);
    expect(new Set(rows.map(({ address }) => address))).toEqual(new Set([STRANGER]));
    expect(new Set(rows.map(({ reason }) => reason))).toEqual(
      new Set(['invalid-token', 'rate-limited']),
    );
  });

  it('believes forwarded addresses of trusted proxies alone', async () => {
    await start({ ADMIN_RATE_LIMIT_PER_MINUTE: `${LIMIT}` });
    const forged = await Promise.all(
      Array.from({ length: 2 * LIMIT }, (_, at) => from(STRANGER, 'a-guess', `198.51.100.${at}`)),
    );
    expect(forged.filter(({ status }) => status === 429)).toHaveLength(LIMIT);
    const proxied = await Promise.all(
      Array.from({ length: LIMIT }, () => from(PROXY, 'a-guess', `198.51.100.1, ${CLIENT}`)),
    );
    expect(new Set(proxied.map(({ status }) => status))).toEqual(new Set([401]));
    expect((await from(PROXY, 'a-guess', CLIENT)).status).toBe(429);
    expect((await from(PROXY, 'a-guess', '203.0.113.8')).status).toBe(401);
    expect(await refusedCalls()).toEqual([
      { actor: 'user', address: STRANGER, reason: 'invalid-token', count: LIMIT, rows: 1 },
      { actor: 'user', address: STRANGER, reason: 'rate-limited', count: LIMIT, rows: 1 },
      { actor: 'user', address: CLIENT, reason: 'invalid-token', count: LIMIT, rows: 1 },
      { actor: 'user', address: CLIENT, reason: 'rate-limited', count: 1, rows: 1 },
      { actor: 'user', address: '203.0.113.8', reason: 'invalid-token', count: 1, rows: 1 },
    ]);
  });

  it('bounds the rows of refused calls from many addresses, and stores no token', async () => {
    await start();
    const secret = 'a-token-that-was-guessed';
    for (let batch = 0; batch < 10; batch += 1) {
      await Promise.all(
        Array.from({ length: 30 }, (_, at) => from(PROXY, secret, `10.9.${batch}.${at}`)),
      );
    }
    const rows = await refusedCalls();
    expect(rows.reduce((sum, { count }) => sum + Number(count), 0)).toBe(300);
    const addresses = rows.filter(({ address }) => address !== null).length;
    // A minute may end between them.
    expect(addresses).toBeGreaterThanOrEqual(20);
    expect(addresses).toBeLessThanOrEqual(40);
    const { rows: all } = await fixture.sql.query('SELECT * FROM audit_event');
    expect(JSON.stringify(all) + server.logs()).not.toContain(secret);
  });

  it('audits logins of administrators, refused ones and acts with the address', async () => {
    await start();
    const headers = { 'x-forwarded-for': CLIENT };
    fixture.provider.groups.set('ada', ['admins']);
    fixture.provider.groups.set('mallory', ['staff']);
    expect((await logInAs('ada', headers)).status).toBe(302);
    expect((await logInAs('mallory')).status).toBe(403);
    expect(await events('kind=admin-logged-in')).toMatchObject([
      // The peer is no trusted proxy.
      { actor: 'people:ada', provider: 'people', reason: 'operate', address: STRANGER },
    ]);
    expect(await events('kind=admin-login-refused&person=mall')).toMatchObject([
      { provider: 'people', subject: 'mallory', reason: 'group_missing', address: STRANGER },
    ]);

    const { accountId } = await logIn(server);
    const { accountId: second } = await logIn(server);
    const body = Buffer.from(JSON.stringify({ reason: 'left' }));
    const disabled = await fetch(`${url}/admin/v1/accounts/${accountId}/disable`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.operator}`, 'content-type': 'application/json' },
      body,
    });
    expect(disabled.status).toBe(200);
    const operator = new AdminCalls(url, tokens.operator);
    await operator.remove(second);
    const [session] = (await operator.get(`/accounts/${accountId}`)).body['sessions'] as Json[];
    expect(session).toBeUndefined();
    await call({ url }, 'POST', '/admin/v1/invitations', {
      token: tokens.operator,
      body: { uses: 1, expiresInSeconds: 3600 },
    });
    expect(await events('actor=alice')).toMatchObject([
      { kind: 'invitation-created', address: STRANGER },
      { kind: 'account-deleted', address: STRANGER },
      { kind: 'account-disabled', address: STRANGER, reason: 'left' },
    ]);
    expect((await reader.act(accountId, 'enable')).status).toBe(403);
    expect(await refusedCalls()).toContainEqual(
      expect.objectContaining({ actor: 'rita', address: STRANGER, reason: 'admin-role-required' }),
    );
  });

  it('ends sessions of a provider that is no longer that of administrators', async () => {
    await start();
    fixture.provider.groups.set('ada', ['admins']);
    const cookie = sessionCookieOf(await logInAs('ada'));
    const headers = { cookie, host: 'console.example' };
    const statusNow = async () => (await call({ url }, 'GET', '/admin/v1/me', { headers })).status;
    expect(await statusNow()).toBe(200);
    await start({ ADMIN_LOGIN_PROVIDER: 'guild' });
    expect(await statusNow()).toBe(401);
    await start();
    expect(await statusNow()).toBe(401);
  });

  it('answers by one search why a person cannot get in', async () => {
    await start();
    fixture.provider.groups.set('Ada.L', ['guests']);
    const refuse = async (): Promise<string | null> => {
      const { url: address } = await begin(server, 'people');
      const { pathname, search } = fixture.provider.authorize(address, 'Ada.L');
      const { location } = await callFrom(
        PROXY,
        server,
        [['x-forwarded-for', CLIENT]],
        'GET',
        pathname + search,
      );
      return new URL(location ?? '').searchParams.get('error');
    };
    expect(await refuse()).toBe('not_eligible');
    const [found, ...more] = await events('person=ada.l');
    expect(found).toMatchObject({
      ...{ kind: 'login-refused', provider: 'people', reason: 'group_missing', address: CLIENT },
      ...{ subject: 'Ada.L', login: 'Ada.L', accountId: null, count: 1 },
    });
    expect(more).toEqual([]);
    expect(await events('person=eve')).toEqual([]);

    const again = await Promise.all(Array.from({ length: 50 }, refuse));
    expect(new Set(again)).toEqual(new Set(['not_eligible']));
    expect(await events('person=Ada')).toHaveLength(1);

    const user = await createCliUser();
    const env = { ...fixture.env, ...fixture.store.env };
    const admin = { GATEHOUSE_ADMIN_URL: url, GATEHOUSE_ADMIN_TOKEN: tokens.reader };
    for (const variables of [env, admin]) {
      const { stdout } = await user.run(['audit', '--person', 'ada', '--json'], variables);
      expect(
        stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Json),
      ).toMatchObject([{ login: 'Ada.L', address: CLIENT, reason: 'group_missing' }]);
    }
    const { stdout } = await user.run(['audit', '--person', 'ada'], env);
    expect(stdout).toMatch(/login-refused.*Ada\.L.*people.*group_missing.*203\.0\.113\.7/);
    expect((await user.run(['audit', '--person', ''], env)).code).toBe(2);
    // Only rows are deleted in time.
    expect(server.logs()).not.toContain('Ada.L');
    await server.kill('SIGTERM');
    const { rows } = await fixture.sql.query<{ count: number }>(
      `SELECT count FROM audit_event WHERE subject = 'Ada.L' ORDER BY id`,
    );
    expect(rows.map(({ count }) => count)).toEqual([1, 50]);
  });

  it('names what of the answer of a provider was refused, and quotes no text of it', async () => {
    await start();
    const callback = async (path: string): Promise<string | null> => {
      const { location } = await callFrom(PROXY, server, [], 'GET', path);
      return new URL(location ?? '').searchParams.get('error');
    };
    const { url: denied } = await begin(server, 'people');
    const query = new URLSearchParams({
      state: new URL(denied).searchParams.get('state') ?? '',
      error: 'interaction_required',
      error_description: 'a text about ada',
    });
    expect(await callback(`/v1/oauth/people/callback?${query}`)).toBe('upstream_error');
    const { url: mixedUp } = await begin(server, 'people');
    const other = new URL(mixedUp);
    other.searchParams.set('nonce', 'of-another-login');
    fixture.provider.add('ada');
    const { pathname, search } = fixture.provider.authorize(other.href, 'ada');
    expect(await callback(pathname + search)).toBe('upstream_error');

    await server.logged(/"detail":"interaction_required","cause":"AuthorizationResponseError: /);
    await server.logged(/"detail":"claim_nonce","cause":"ClientError: .*\\"nonce\\"/);
    expect(server.logs()).not.toMatch(/a text about ada|of-another-login/);
    await server.kill('SIGTERM');
    const { rows } = await fixture.sql.query(
      `SELECT provider, reason, detail, count FROM audit_event WHERE kind = 'login-refused'
       ORDER BY detail`,
    );
    const refused = { provider: 'people', reason: 'upstream-error', count: 1 };
    expect(rows).toEqual([
      { ...refused, detail: 'claim_nonce' },
      { ...refused, detail: 'interaction_required' },
    ]);
    const user = await createCliUser();
    const { stdout } = await user.run(['audit'], { ...fixture.env, ...fixture.store.env });
    expect(stdout).toMatch(/login-refused.*people.*upstream-error interaction_required/);
  });

  it('names the person of a certificate that the rules refused', async () => {
    await start({
      ...mtlsEnv({ ALLOWED_EMAIL_DOMAINS: 'acme.example' }),
      AUTH_REQUIRED_LOGIN_PROVIDERS: '',
    });
    const headers = [
      ['x-forwarded-for', CLIENT],
      ['x-service-client-cert-email', 'eve@evil.example'],
    ] as const;
    const refused = await callFrom(PROXY, server, headers);
    expect(refused).toMatchObject({ status: 403, body: { code: 'not-eligible' } });
    expect(await events('person=eve@')).toMatchObject([
      {
        ...{ kind: 'login-refused', provider: 'mtls', reason: 'domain-not-allowed' },
        ...{ email: 'eve@evil.example', address: CLIENT },
      },
    ]);
    // A header of another peer is no certificate.
    await callFrom(STRANGER, server, [['x-service-client-cert-email', 'boss@acme.example']]);
    expect(await events('person=boss')).toEqual([]);
  });
});
