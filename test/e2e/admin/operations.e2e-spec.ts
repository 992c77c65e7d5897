import { randomUUID } from 'node:crypto';
import { call, expectErrorShape, logIn, refusalOf, type Json } from '../../helpers/client.js';
import {
  AdminCalls,
  AdminTokensFile,
  adminUrlOf,
  cookiesOf,
  logInWithBrowser,
  sessionCookieOf,
} from '../../fixtures/admin-fixture.js';
import { OffboardingFixture } from '../../fixtures/offboarding-fixture.js';
import { sessionIdOf } from '../../fixtures/sessions-fixture.js';
import { RequestCalls } from '../../helpers/request-calls.js';

const PUBLIC_URL = 'http://console.example';

const [fixture, tokens] = await Promise.all([OffboardingFixture.open(), AdminTokensFile.create()]);
const server = await fixture.start({
  ...tokens.env,
  AUTH_OFFBOARDING_ENABLED: 'true',
  ADMIN_PUBLIC_URL: PUBLIC_URL,
  ADMIN_LOGIN_PROVIDER: 'people',
  ADMIN_LOGIN_READ_GROUPS: 'auditors',
  ADMIN_LOGIN_OPERATE_GROUPS: 'admins',
});
const url = await adminUrlOf(server);
const operator = new AdminCalls(url, tokens.operator);
const reader = new AdminCalls(url, tokens.reader);
afterAll(() => fixture.close());

describe('the operations of the administration API', () => {
  it('counts accounts by state', async () => {
    const before = (await reader.get('/overview')).body['accounts'] as Record<string, number>;
    const { accountId } = await logIn(server);
    await operator.act(accountId, 'disable');
    expect((await reader.get('/overview')).body).toEqual({
      accounts: {
        total: Number(before['total']) + 1,
        disabled: Number(before['disabled']) + 1,
        ineligible: before['ineligible'],
      },
      requests: { waiting: 0, answered: 0, withdrawn: 0, expired: 0 },
      isOffboardingOn: true,
    });
  });

  it('counts the requests of programs by their end, and nothing of what they say', async () => {
    const asker = new RequestCalls(server, (await fixture.person(server)).token);
    const counts = async () => (await reader.get('/overview')).body['requests'];
    const [waiting, answered, expired] = [
      await asker.asked(),
      await asker.asked(),
      await asker.asked(),
    ];
    expect((await asker.close(await asker.asked())).status).toBe(200);
    expect((await asker.answer(answered, { deny: true })).status).toBe(200);
    expect(await counts()).toEqual({ waiting: 3, answered: 0, withdrawn: 1, expired: 0 });
    await asker.close(answered, sessionIdOf(asker.token));
    const overdue = `UPDATE agent_request SET expires_at = now() - interval '1 second' WHERE request_id = $1`;
    await fixture.sql.query(overdue, [expired]);
    expect(await counts()).toEqual({ waiting: 1, answered: 1, withdrawn: 1, expired: 1 });
    await asker.close(waiting);
    await fixture.sql.query(`UPDATE agent_request SET kept_until = now() - interval '1 second'`);
    expect(await counts()).toEqual({ waiting: 0, answered: 0, withdrawn: 0, expired: 0 });
  });

  it('shows the failures of providers and the number of waiting re-checks', async () => {
    const people = async (): Promise<Json> => {
      const { body } = await reader.get('/providers');
      return (body['providers'] as Json[])[0] ?? {};
    };
    const { accountId } = await fixture.person(server);
    await fixture.crowd(3);
    fixture.provider.isDown = true;
    await operator.act(accountId, 'recheck');
    await fixture.until('its failure', async () => (await people())['failingFor'] !== null);
    expect(await people()).toMatchObject({
      id: 'people',
      type: 'oidc',
      isRequired: true,
      failingFor: 'server_error',
      lastFailure: { at: expect.any(Number), cause: 'server_error' },
    });
    fixture.provider.isDown = false;
    await fixture.makeDue();
    await fixture.until('its answer', async () => (await people())['failingFor'] === null);
    await fixture.until('all checks', async () => {
      const { checks, lastAnswerAt } = await people();
      const { due, done } = checks as { due: number; done: Record<string, number> };
      return due === 0 && lastAnswerAt !== null && Number(done['eligible']) >= 3;
    });
    await fixture.sql.query(
      `UPDATE identity SET lease_until = now() + interval '1 hour',
         eligibility_next_check_at = now() - interval '2 hours' WHERE account_id = $1`,
      [accountId],
    );
    expect(await people()).toMatchObject({ checks: { due: 1, overdue: 1 } });
  });

  it('requests no check of an account while re-checks are off', async () => {
    const off = await fixture.start({ ...tokens.env, AUTH_OFFBOARDING_ENABLED: 'false' });
    const there = new AdminCalls(await adminUrlOf(off), tokens.operator);
    const { accountId } = await fixture.person(server);
    expect((await there.act(accountId, 'recheck')).body).toEqual({ success: true, changed: false });
    expect((await there.act(randomUUID(), 'recheck')).status).toBe(404);
    const { body } = await reader.get(`/audit?accountId=${accountId}&kind=recheck-requested`);
    expect(body['events']).toEqual([]);
  });

  it('describes the policy, and predicts a changed one without changing anything', async () => {
    const people = [await fixture.person(server), await fixture.person(server)];
    const ids = people.map(({ accountId }) => accountId);
    const linked = { login: null, email: null, emailVerified: false, memberships: {} };
    await fixture.sql.query(
      `UPDATE identity SET facts = $2, lease_until = now() + interval '1 hour' WHERE account_id = ANY($1)`,
      [ids, { ...linked, groups: ['staff'] }],
    );
    const { body: present } = await reader.get('/policy');
    expect(present['sentences']).toContainEqual(expect.stringContaining('people'));
    const entry = { ...fixture.provider.entry, allow: { groupsAny: ['directors'] } };
    const environment = { AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify([entry]) };
    const plan = (body: unknown, token = tokens.reader) =>
      call(reader, 'POST', '/admin/v1/policy/plan', { token, body });
    const { status, body } = await plan({ environment });
    expect({ status, ...body }).toMatchObject({
      status: 200,
      isSample: false,
      losing: expect.arrayContaining(ids),
      policy: { sentences: expect.any(Array), findings: expect.any(Array) },
    });
    expect(Number(body['lose'])).toBeGreaterThanOrEqual(2);
    expect(body['policy']).toMatchObject({
      sentences: expect.arrayContaining([
        'To be eligible at people, a person must be in one of the groups: directors.',
      ]),
    });
    const none = await plan({ environment: {} });
    expect(none.body).toMatchObject({ lose: 0, gain: 0 });
    expect((await reader.get('/policy')).body).toEqual(present);
    const freed = await plan({ environment: { AUTH_REQUIRED_LOGIN_PROVIDERS: '' } });
    expect(freed.body).toMatchObject({ lose: 0 });
  });

  it('lists the present variables without secrets, from which a plan changes nothing', async () => {
    const { body: policy } = await reader.get('/policy');
    const { body, text } = await reader.get('/policy/variables');
    const variables = body['variables'] as { name: string; value: string; isSet: boolean }[];
    expect(variables).toContainEqual({
      ...{ name: 'AUTH_REQUIRED_LOGIN_PROVIDERS', value: 'people', isSet: true },
    });
    expect(variables).toContainEqual({
      ...{ name: 'AUTH_OFFBOARDING_STRICT', value: 'false', isSet: false },
    });
    expect(text).toContain(fixture.provider.issuer);
    expect(text).not.toMatch(/secret"|_FILE"|_PATH"/i);
    const environment = Object.fromEntries(variables.map(({ name, value }) => [name, value]));
    const planned = await call(reader, 'POST', '/admin/v1/policy/plan', {
      token: tokens.reader,
      body: { environment },
    });
    expect({ status: planned.status, ...planned.body }).toMatchObject({
      ...{ status: 200, lose: 0, gain: 0, names: {} },
      policy: { statements: policy['statements'] },
    });
  });

  it.each([
    [undefined],
    [null],
    ['x'],
    [{ NO_SUCH_VARIABLE: 'x' }],
    [{ constructor: 'x' }],
    [{ AUTH_PROVIDERS_CONFIG_PATH: '/etc/passwd' }],
    [{ SERVICE_MASTER_SECRET_FILE: '/etc/passwd' }],
    [{ SERVICE_MASTER_SECRET: 'x' }],
    [{ ADMIN_TOKENS_FILE: '/etc/passwd' }],
    [{ AUTH_REQUIRED_LOGIN_PROVIDERS: 7 }],
    [{ AUTH_TOKEN_TTL_SECONDS: 'x' }],
    [{ AUTH_PROVIDERS_CONFIG_JSON: '[{' }],
    [{ AUTH_PROVIDERS_CONFIG_JSON: '[{"clientKeyFile":"/etc/passwd"}]' }],
  ])('refuses to plan %j', async (environment) => {
    const answer = await call(reader, 'POST', '/admin/v1/policy/plan', {
      token: tokens.reader,
      body: { environment },
    });
    expectErrorShape(answer);
    expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-request' });
    expect(answer.text).not.toMatch(/root:|passwd/);
  });

  it('exports the audit trail as lines', async () => {
    const { accountId } = await logIn(server);
    await fixture.sql.query(
      `INSERT INTO audit_event (at, kind, actor, account_id)
       SELECT now() - n * interval '1 second', 'logged-in', 'user', $1 FROM generate_series(1, 2500) AS n`,
      [accountId],
    );
    const headers = { accept: 'application/x-ndjson' };
    const {
      status,
      headers: got,
      text,
    } = await reader.get(`/audit?accountId=${accountId}`, {
      headers,
    });
    expect(status).toBe(200);
    expect(got['content-type']).toBe('application/x-ndjson');
    const events = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Json);
    expect(events).toHaveLength(2502);
    const times = events.map(({ at }) => Number(at));
    expect(times).toEqual([...times].sort((one, other) => other - one));
    const some = await reader.get(`/audit?accountId=${accountId}&limit=1100`, { headers });
    expect(some.text.trim().split('\n')).toHaveLength(1100);
    const none = await reader.get(`/audit?accountId=${randomUUID()}`, { headers });
    expect({ status: none.status, text: none.text }).toEqual({ status: 200, text: '' });
  });

  describe('login with a browser', () => {
    const begin = async () => {
      const started = await fetch(`${operator.url}/admin/v1/login`, { redirect: 'manual' });
      expect(started.status).toBe(302);
      return { address: started.headers.get('location') ?? '', cookie: cookiesOf(started) };
    };
    const finish = (callback: URL, cookie: string) =>
      fetch(`${operator.url}${callback.pathname}${callback.search}`, {
        redirect: 'manual',
        headers: { cookie },
      });

    const logInAs = async (...groups: string[]) => {
      const sub = randomUUID();
      fixture.provider.groups.set(sub, groups);
      const answer = await logInWithBrowser(url, (address) =>
        fixture.provider.authorize(address, sub),
      );
      return { sub, answer, cookie: sessionCookieOf(answer) };
    };
    const browser = { host: 'console.example', 'sec-fetch-site': 'same-origin' };

    it('begins a session that can act only from its own page', async () => {
      const { sub, answer, cookie } = await logInAs('admins');
      expect(answer.status).toBe(302);
      const [session = ''] = answer.headers
        .getSetCookie()
        .filter((line) => line.startsWith('gatehouse-admin-session='));
      expect(session).toMatch(/; Path=\/; HttpOnly; SameSite=Strict$/);
      const me = await call(operator, 'GET', '/admin/v1/me', { headers: { cookie, ...browser } });
      expect(me.body).toEqual({ name: `people:${sub}`, role: 'operate', method: 'login' });

      const { accountId } = await logIn(server);
      const disable = (headers: Readonly<Record<string, string | undefined>>) =>
        call(operator, 'POST', `/admin/v1/accounts/${accountId}/disable`, {
          headers: { cookie, ...browser, origin: PUBLIC_URL, 'x-gatehouse-admin': '1', ...headers },
          body: { reason: 'from the console' },
        });
      for (const forged of [
        { origin: 'https://evil.example' },
        { 'sec-fetch-site': 'cross-site' },
        { 'x-gatehouse-admin': undefined },
        { host: 'evil.example' },
      ]) {
        const refused = await disable(forged);
        expect({ forged, ...refusalOf(refused) }).toEqual({
          forged,
          status: 403,
          code: 'origin-not-allowed',
        });
      }
      const form = await disable({ 'content-type': 'text/plain' });
      expect(form.status).toBe(415);
      expect((await disable({})).body).toEqual({ success: true, changed: true });
      const { body } = await reader.get(`/audit?accountId=${accountId}&kind=account-disabled`);
      expect(body['events']).toMatchObject([
        { actor: `people:${sub}`, reason: 'from the console' },
      ]);

      const logout = await call(operator, 'POST', '/admin/v1/logout', {
        headers: { cookie, ...browser, 'x-gatehouse-admin': '1' },
      });
      expect(logout.status).toBe(200);
      const after = await call(operator, 'GET', '/admin/v1/me', {
        headers: { cookie, ...browser },
      });
      expect(refusalOf(after)).toEqual({ status: 401, code: 'token-expired' });
    });

    it('admits administrators by group only', async () => {
      const auditor = await logInAs('auditors', 'staff');
      const me = await call(operator, 'GET', '/admin/v1/me', {
        headers: { cookie: auditor.cookie, ...browser },
      });
      expect(me.body).toMatchObject({ role: 'read' });
      const { answer } = await logInAs('staff', 'Admins ', 'admins-of-something-else');
      expect(answer.status).toBe(403);
      expect(answer.headers.getSetCookie().join()).not.toContain('admin-session');
    });

    it('ends with the browser that began, once, whatever others try with its state', async () => {
      const sub = randomUUID();
      fixture.provider.groups.set(sub, ['admins']);
      const { address, cookie } = await begin();
      const callback = fixture.provider.authorize(address, sub);
      const other = await begin();
      const strangers = await Promise.all(
        Array.from({ length: 50 }, (_, at) => finish(callback, at % 2 === 0 ? '' : other.cookie)),
      );
      expect(new Set(strangers.map(({ status }) => status))).toEqual(new Set([400]));
      expect((await finish(callback, cookie)).status).toBe(302);
      expect((await finish(callback, cookie)).status).toBe(400);
      const again = await begin();
      const answers = await Promise.all(
        Array.from({ length: 50 }, () =>
          finish(fixture.provider.authorize(again.address, sub), again.cookie),
        ),
      );
      expect(answers.filter(({ status }) => status === 302)).toHaveLength(1);
    });
  });
});
