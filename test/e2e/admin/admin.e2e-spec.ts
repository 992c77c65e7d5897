import { randomUUID } from 'node:crypto';
import { call, expectErrorShape, logIn, refusalOf, type Json } from '../../helpers/client.js';
import { connect } from '../../helpers/client-live.js';
import { AdminCalls, AdminTokensFile, adminUrlOf, entryOf } from '../../fixtures/admin-fixture.js';
import { OffboardingFixture, type Person } from '../../fixtures/offboarding-fixture.js';

const [fixture, tokens] = await Promise.all([OffboardingFixture.open(), AdminTokensFile.create()]);
const server = await fixture.start(tokens.env);
const url = await adminUrlOf(server);
const operator = new AdminCalls(url, tokens.operator);
const reader = new AdminCalls(url, tokens.reader);
afterAll(() => fixture.close());

describe('the administration API', () => {
  const eventsOf = async (accountId: string): Promise<Json[]> => {
    const { body } = await reader.get(`/audit?accountId=${accountId}`);
    return body['events'] as Json[];
  };

  describe('access', () => {
    const FORGED: [string, Readonly<Record<string, string>>][] = [
      ['of another origin', { origin: 'https://evil.example' }],
      ['of a sandboxed page', { origin: 'null' }],
      ['that a page of another site made', { 'sec-fetch-site': 'cross-site' }],
      ['that a page of a sibling domain made', { 'sec-fetch-site': 'same-site' }],
      ['to a host that is no address', { host: 'gate example' }],
    ];

    it.each(FORGED)('refuses a request %s, even with a valid token', async (_what, headers) => {
      const { accountId } = await logIn(server);
      for (const token of [tokens.operator, undefined]) {
        const options = { headers, body: { reason: 'x' }, ...(token !== undefined && { token }) };
        const path = `/admin/v1/accounts/${accountId}/disable`;
        const answer = await call(operator, 'POST', path, options);
        expectErrorShape(answer);
        expect(answer.status).toBe(token === undefined ? 401 : 403);
        expect(answer.headers['access-control-allow-origin']).toBeUndefined();
      }
      expect(await eventsOf(accountId)).not.toContainEqual(
        expect.objectContaining({ kind: 'account-disabled' }),
      );
    });

    it('accepts a token in the header only', async () => {
      const path = `/admin/v1/accounts?token=${tokens.operator}&access_token=${tokens.operator}`;
      const tries = await Promise.all([
        call(operator, 'GET', path),
        call(operator, 'GET', '/admin/v1/accounts', { token: `${tokens.operator}x` }),
        call(operator, 'GET', '/admin/v1/accounts', {
          headers: { authorization: `Basic ${tokens.operator}` },
        }),
        call(operator, 'GET', '/admin/v1/accounts', {
          headers: { cookie: 'gatehouse-admin-session=x' },
        }),
      ]);
      expect(tries.map(refusalOf)).toEqual([
        { status: 401, code: 'missing-token' },
        { status: 401, code: 'invalid-token' },
        { status: 401, code: 'invalid-token' },
        { status: 401, code: 'token-expired' },
      ]);
      expect((await operator.get('/me')).body).toEqual({
        name: 'alice',
        role: 'operate',
        method: 'token',
      });
    });

    it('permits a reader to read, and refuses its actions', async () => {
      const { accountId } = await logIn(server);
      expect((await reader.get(`/accounts/${accountId}`)).status).toBe(200);
      const session = `${accountId}/sessions/${randomUUID()}`;
      const acts = await Promise.all([
        ...['disable', 'enable', 'revoke', 'recheck'].map((act) => reader.act(accountId, act)),
        reader.remove(accountId),
        reader.remove(session),
      ]);
      for (const answer of acts) {
        expect(refusalOf(answer)).toEqual({ status: 403, code: 'admin-role-required' });
      }
      expect((await reader.get(`/accounts/${accountId}`)).body).toMatchObject({ state: 'active' });
    });

    it('serves the administration API on its own port only, and nothing else there', async () => {
      const { accountId, token } = await logIn(server);
      const admin = { token: tokens.operator };
      for (const path of ['/accounts', `/accounts/${accountId}`, '/audit', '/me', '/login']) {
        const answer = await call(server, 'GET', `/admin/v1${path}`, admin);
        expect({ path, ...refusalOf(answer) }).toEqual({ path, status: 404, code: 'not-found' });
      }
      for (const path of ['/v1/features', '/v1/account/profile', '/livez', '/docs']) {
        const answer = await call(operator, 'GET', path, { token });
        expect({ path, ...refusalOf(answer) }).toEqual({ path, status: 404, code: 'not-found' });
      }
      const asUser = await call(operator, 'GET', '/admin/v1/accounts', { token });
      expect(refusalOf(asUser)).toEqual({ status: 401, code: 'invalid-token' });
    });

    it('uses a changed file of tokens, and keeps the last valid one when the change is invalid', async () => {
      const added = 'a-token-that-is-added-later';
      const status = async (token: string): Promise<number> =>
        (await call(operator, 'GET', '/admin/v1/me', { token })).status;
      await tokens.write([...tokens.entries, entryOf('late', added, 'read')]);
      await fixture.until('the new token works', async () => (await status(added)) === 200);
      for (const invalid of [
        '[',
        [entryOf('user', added, 'read')],
        [entryOf('x', added, 'root')],
      ]) {
        await tokens.write(invalid);
        await server.logged(/"level":"error".*ADMIN_TOKENS_FILE is not used/);
      }
      const twice = JSON.stringify([entryOf('x', added, 'read')]).replace(
        '}',
        ',"role":"operate"}',
      );
      await tokens.write(twice);
      await server.logged(/ADMIN_TOKENS_FILE is not used.*has the field role twice/);
      expect(await status(added)).toBe(200);
      await tokens.write(tokens.entries);
      await fixture.until('the token is gone', async () => (await status(added)) === 401);
      expect(await status(tokens.reader)).toBe(200);
      expect(server.logs()).not.toContain(added);
    });
  });

  describe('accounts', () => {
    let person: Person;
    beforeEach(async () => {
      person = await fixture.person(server);
    });

    it('finds an account by its id, login or e-mail address, and explains it', async () => {
      const facts = { login: 'Ada.L', email: 'Ada@Acme.example', emailVerified: true };
      await fixture.sql.query(`UPDATE identity SET login = $2, facts = $3 WHERE account_id = $1`, [
        person.accountId,
        'Ada.L',
        { ...facts, groups: ['staff'], memberships: {} },
      ]);
      for (const query of [person.accountId, 'ada.l', 'ada@acme.EXAMPLE', 'ada@']) {
        const { body } = await reader.get(`/accounts?query=${encodeURIComponent(query)}`);
        expect({ query, ...body }).toMatchObject({
          query,
          accounts: [
            {
              id: person.accountId,
              state: 'active',
              keyMode: 'keyed',
              sessions: 1,
              lastSeenAt: expect.any(Number),
              identities: [{ provider: 'people', email: 'Ada@Acme.example', status: 'eligible' }],
            },
          ],
          cursor: null,
        });
      }
      for (const filter of ['state=disabled', 'state=ineligible', 'provider=github']) {
        const { body } = await reader.get(`/accounts?query=${person.accountId}&${filter}`);
        expect({ filter, ...body }).toEqual({ filter, accounts: [], total: 0, cursor: null });
      }
      const { body } = await reader.get(`/accounts/${person.accountId}`);
      expect(body).toMatchObject({
        sessions: [{ method: 'key_challenge', address: '127.0.0.1' }],
        explain: {
          decision: 'allowed',
          code: null,
          reasons: expect.arrayContaining(['The sign-in method key_challenge is allowed.']),
          providers: [{ provider: 'people', isRequired: true, verdict: { status: 'eligible' } }],
        },
      });
      expect(JSON.stringify(body)).not.toMatch(/credentials|public_?key/i);
    });

    it('disables an account at once, closes its live connections, and explains the refusal', async () => {
      const live = await connect(server, { token: person.token });
      const done = await operator.act(person.accountId, 'disable', 'left the company');
      expect(done.body).toEqual({ success: true, changed: true });
      expect(await live.next('closing')).toMatchObject({ code: 'account-disabled' });
      expect(refusalOf(await call(server, 'GET', '/v1/push-tokens', person))).toEqual({
        status: 403,
        code: 'account-disabled',
      });
      expect((await reader.get(`/accounts/${person.accountId}`)).body).toMatchObject({
        state: 'disabled',
        sessions: [],
        explain: { decision: 'refused', code: 'account-disabled' },
      });
      const again = await operator.act(person.accountId, 'disable');
      expect(again.body).toEqual({ success: true, changed: false });
      expect((await operator.act(person.accountId, 'enable', 'returned')).status).toBe(200);
      const events = await eventsOf(person.accountId);
      expect(events.slice(0, 2)).toMatchObject([
        { kind: 'account-enabled', actor: 'alice', reason: 'returned' },
        { kind: 'account-disabled', actor: 'alice', reason: 'left the company' },
      ]);
    });

    it('records one event for 50 parallel disables', async () => {
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => operator.act(person.accountId, 'disable')),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
      expect(answers.filter(({ body }) => body['changed'] === true)).toHaveLength(1);
      const events = await eventsOf(person.accountId);
      expect(events.filter(({ kind }) => kind === 'account-disabled')).toHaveLength(1);
    });

    it('records one event for 50 parallel deletions', async () => {
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => operator.remove(person.accountId, 'asked for it')),
      );
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(1);
      expect(answers.filter(({ body }) => body['changed'] === true)).toHaveLength(1);
      expect(new Set(statuses)).toEqual(new Set(statuses.includes(404) ? [200, 404] : [200]));
      const events = await eventsOf(person.accountId);
      expect(events.filter(({ kind }) => kind === 'account-deleted')).toHaveLength(1);
      expect((await reader.get(`/accounts/${person.accountId}`)).status).toBe(404);
      expect(await fixture.statusOf(server, person)).toBe(401);
    });

    it('ends one session, and only once', async () => {
      const { body } = await reader.get(`/accounts/${person.accountId}`);
      const [session] = body['sessions'] as Json[];
      const path = `${person.accountId}/sessions/${String(session?.['id'])}`;
      const other = await fixture.person(server);
      const foreign = `${other.accountId}/sessions/${String(session?.['id'])}`;
      expect((await operator.remove(foreign)).status).toBe(404);
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => operator.remove(path, 'lost laptop')),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(await fixture.statusOf(server, person)).toBe(401);
      expect((await eventsOf(person.accountId))[0]).toMatchObject({
        kind: 'token-revoked',
        actor: 'alice',
        reason: 'lost laptop',
        sessionId: session?.['id'],
      });
    });

    it('revokes the tokens of an account, and re-checks its identities', async () => {
      fixture.provider.groups.set(person.sub, []);
      expect((await operator.act(person.accountId, 'recheck', 'ticket 7')).status).toBe(200);
      await fixture.until(
        'access ends',
        async () => (await fixture.statusOf(server, person)) === 403,
      );
      expect((await reader.get(`/accounts/${person.accountId}`)).body).toMatchObject({
        explain: { decision: 'refused', code: 'not-eligible' },
        identities: [{ status: 'ineligible', reason: 'group_missing' }],
      });
      const { body } = await reader.get('/accounts?state=ineligible');
      expect((body['accounts'] as Json[]).map(({ id }) => id)).toContain(person.accountId);
      await operator.act(person.accountId, 'revoke');
      expect(await fixture.statusOf(server, person)).toBe(401);
    });

    it('changes and stores nothing if an account has no identity to check again', async () => {
      const { accountId } = await logIn(server);
      expect((await operator.act(accountId, 'recheck')).body).toMatchObject({ changed: false });
      const kinds = (await eventsOf(accountId)).map(({ kind }) => kind);
      expect(kinds).not.toContain('recheck-requested');
    });

    it('refuses an action without a reason, or on an unknown target', async () => {
      const reasons = [undefined, '', ' ', 'x'.repeat(201), 7, 'a\u0000b', 'a\nb', { $gt: '' }];
      for (const reason of reasons) {
        const path = `/admin/v1/accounts/${person.accountId}/disable`;
        const token = tokens.operator;
        const answer = await call(operator, 'POST', path, { token, body: { reason } });
        expectErrorShape(answer);
        expect({ reason, ...refusalOf(answer) }).toMatchObject({ reason, status: 400 });
        const isMissing = typeof reason !== 'string';
        expect(answer.text.includes('reason is missing: say why')).toBe(isMissing);
      }
      for (const id of [randomUUID(), 'x', "' OR true --", '%00']) {
        const answer = await operator.act(encodeURIComponent(id), 'disable');
        expect({ id, ...refusalOf(answer) }).toEqual({ id, status: 404, code: 'not-found' });
      }
      expect(await fixture.statusOf(server, person)).toBe(200);
    });
  });

  it('pages through accounts and events without a repeat while more are added', async () => {
    for (const [path, list] of [
      ['/accounts', 'accounts'],
      ['/audit', 'events'],
    ] as const) {
      const seen: unknown[] = [];
      for (let cursor: unknown = ''; cursor !== null;) {
        const query = cursor === '' ? '' : `&cursor=${String(cursor)}`;
        const { status, body } = await reader.get(`${path}?limit=3${query}`);
        expect(status).toBe(200);
        seen.push(...(body[list] as Json[]).map(({ id }) => id));
        cursor = seen.length > 60 ? null : body['cursor'];
        await logIn(server);
      }
      expect(seen.length).toBeGreaterThan(6);
      expect(new Set(seen).size).toBe(seen.length);
    }
  });

  it.each([
    ['/accounts?limit=0'],
    ['/accounts?limit=201'],
    ['/accounts?limit=1&limit=2'],
    ['/accounts?limit=x'],
    ['/accounts?state=root'],
    ['/accounts?query='],
    [`/accounts?query=${'x'.repeat(201)}`],
    ['/accounts?query=a%00b'],
    ['/accounts?query=%0a'],
    ['/accounts?provider=%27'],
    ['/accounts?cursor=x'],
    [`/accounts?cursor=${Buffer.from('{"key":"a","id":"b"}').toString('base64url')}`],
    [
      `/accounts?cursor=${Buffer.from('{"key":"a\\u0000","id":"00000000-0000-0000-0000-000000000000"}').toString('base64url')}`,
    ],
    ['/audit?kind=nothing'],
    ['/audit?accountId=1'],
    ['/audit?since=yesterday'],
    ['/audit?since=0x10'],
    ['/audit?since=1e3'],
    ['/audit?until='],
    ['/audit?until=%20'],
    ['/audit?until=99999999999999999'],
    ['/audit?limit=201'],
    [`/audit?cursor=${Buffer.from('{"at":1e300,"id":"1"}').toString('base64url')}`],
  ])('refuses %s', async (path) => {
    const answer = await reader.get(path);
    expectErrorShape(answer);
    expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-request' });
  });

  it.each(['%', '_', "' OR true --", '\\', '"', '🙂', '\u{10FFFF}'])(
    'finds no account by %j',
    async (query) => {
      const { status, body } = await reader.get(`/accounts?query=${encodeURIComponent(query)}`);
      expect({ status, body }).toEqual({
        ...{ status: 200, body: { accounts: [], total: 0, cursor: null } },
      });
    },
  );
});
