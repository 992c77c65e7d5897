import { decodeJwt } from 'jose';
import { EventStreamFixture } from '../../fixtures/event-stream-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import {
  CURSOR,
  grantedCode,
  INSPECTOR,
  newVerifier,
  PROGRAM_ENV,
  PROGRAMS,
  programsOf,
  programTokens,
  redeem,
  REDIRECT,
  refresh,
} from '../../fixtures/programs-fixture.js';
import {
  backends,
  basic,
  exchangeForm,
  postForm,
  resourceOf,
} from '../../fixtures/resource-server-fixture.js';
import { endSession, sessionIdOf, tokenOf } from '../../fixtures/sessions-fixture.js';
import { connect } from '../../helpers/client-live.js';
import { call, makeDeviceKey, refusalOf, type Answer } from '../../helpers/client.js';

const setup = backends([
  { id: 'notes', programs: PROGRAMS },
  { id: 'files', programs: { ...PROGRAMS, clients: ['cursor'] }, maxTokenSeconds: 120 },
  { id: 'relay' },
]);
const server = await startServer({ env: { ...setup.env, ...PROGRAM_ENV } });
const stream = await EventStreamFixture.open(server, setup, 'notes');
afterAll(() => server.stop());

const refused = (answer: Answer): string => {
  const { status, code } = refusalOf(answer);
  return `${String(status)} ${String(code)}`;
};

const person = () => tokenOf(server, makeDeviceKey());

const introspect = async (token: string, id = 'notes') =>
  (await postForm(server, '/v1/oauth/introspect', { token }, basic(id, setup.secretOf(id)))).body;

describe('the code of a program', () => {
  it('gives a token with scope and program, which the backend verifies', async () => {
    const token = await person();
    const { access } = await programTokens(server, token);
    const claims = decodeJwt(access);
    expect(claims).toMatchObject({
      aud: resourceOf('notes'),
      sub: decodeJwt(token).sub,
      client_id: 'inspector',
      client_name: 'Inspector',
      grant_id: (await programsOf(server, token))[0]?.id,
      scope: 'notes:read',
      login_method: 'device-key',
    });
    const { iat = 0, exp = 0, session_exp: end } = claims;
    expect(exp - iat).toBe(900);
    expect(Number(end)).toBeGreaterThan(exp + 80 * 86_400);
    expect(await introspect(access)).toMatchObject({
      active: true,
      client_id: 'inspector',
      scope: 'notes:read',
    });
  });

  it('never passes as a session: at a proxy, at the exchange and at the routes of this server', async () => {
    const { access } = await programTokens(server, await person());
    const forward = await call(server, 'GET', '/v1/oauth/forward-auth/notes', { token: access });
    expect(refused(forward)).toBe('403 insufficient-scope');
    const exchanged = await postForm(server, '/v1/oauth/token', exchangeForm(access, 'notes'));
    expect(exchanged.status).toBe(400);
    const profile = await call(server, 'GET', '/v1/account/profile', { token: access });
    expect(refused(profile)).toBe('401 invalid-token');
    expect(await introspect(access, 'relay')).toEqual({ active: false });
  });

  it('lives no longer than a configured lifetime of the entry', async () => {
    const verifier = newVerifier();
    const redirectUri = 'cursor://mcp/callback';
    const request = {
      client_id: CURSOR.id,
      redirect_uri: redirectUri,
      resource: resourceOf('files'),
    };
    const approval = { clientId: CURSOR.id, redirectUri };
    const code = await grantedCode(server, await person(), verifier, { request, approval });
    const { body } = await redeem(server, code, verifier, {
      client_id: CURSOR.id,
      redirect_uri: redirectUri,
    });
    expect(body['expires_in']).toBe(120);
  });

  it('gives exactly one token to 50 simultaneous requests, and ends with them', async () => {
    const token = await person();
    const verifier = newVerifier();
    const code = await grantedCode(server, token, verifier);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => redeem(server, code, verifier)),
    );
    const [first, ...others] = answers.filter(({ status }) => status === 200);
    expect(others).toEqual([]);
    const access = String(first?.body['access_token']);
    await stream.until(String(decodeJwt(access)['sid']));
    expect(await introspect(access)).toEqual({ active: false });
    expect(await programsOf(server, token)).toEqual([]);
  });

  it.each([
    ['another program', { client_id: 'cursor' }, 'invalid_grant'],
    ['no program', { client_id: '' }, 'invalid_request'],
    ['no address', { redirect_uri: '' }, 'invalid_request'],
    ['no code', { code: '' }, 'invalid_request'],
    ['another address', { redirect_uri: 'http://127.0.0.1:1/callback' }, 'invalid_grant'],
    ['another verifier', { code_verifier: newVerifier() }, 'invalid_grant'],
    ['no verifier', { code_verifier: '' }, 'invalid_request'],
    ['another backend', { resource: resourceOf('files') }, 'invalid_target'],
    ['another code', { code: newVerifier() }, 'invalid_grant'],
  ])('is not taken with %s, and stays', async (_what, more, error) => {
    const verifier = newVerifier();
    const code = await grantedCode(server, await person(), verifier);
    const answer = await redeem(server, code, verifier, more);
    expect([answer.status, answer.body['error']]).toEqual([400, error]);
    const resource = `${resourceOf('notes')}/`;
    expect((await redeem(server, code, verifier, { resource })).status).toBe(200);
  });

  it.each([
    [
      'signed out everywhere',
      (token: string) => call(server, 'POST', '/v1/auth/logout-everywhere', { token }),
    ],
    ['deleted', (token: string) => call(server, 'DELETE', '/v1/account', { token })],
  ])('gives no token once the account was %s', async (_what, end) => {
    const token = await person();
    const verifier = newVerifier();
    const code = await grantedCode(server, token, verifier);
    expect((await end(token)).status).toBe(200);
    expect((await redeem(server, code, verifier)).body['error']).toBe('invalid_grant');
  });
});

describe('the refresh token of a program', () => {
  it('gives a new access token of the same session at the backend', async () => {
    const first = await programTokens(server, await person());
    const { status, body } = await refresh(server, first.refresh);
    expect(status).toBe(200);
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 900, scope: 'notes:read' });
    expect(decodeJwt(String(body['access_token']))['sid']).toBe(decodeJwt(first.access)['sid']);
  });

  it('gives one newest token to 50 simultaneous requests', async () => {
    const first = await programTokens(server, await person());
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => refresh(server, first.refresh)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
    expect(new Set(answers.map(({ body }) => body['refresh_token'])).size).toBe(1);
  });

  it.each([
    ['of another program', { client_id: 'cursor' }, 'invalid_grant'],
    ['for another backend', { resource: resourceOf('files') }, 'invalid_target'],
    ['for a wider scope', { scope: 'notes:read notes:write' }, 'invalid_scope'],
    ['that is invented', { refresh_token: newVerifier() }, 'invalid_grant'],
    ['that is absent', { refresh_token: '' }, 'invalid_request'],
    ['of no program', { client_id: '' }, 'invalid_request'],
  ])('is refused %s, and stays', async (_what, more, error) => {
    const first = await programTokens(server, await person());
    const answer = await refresh(server, first.refresh, more);
    expect([answer.status, answer.body['error']]).toEqual([400, error]);
    expect((await refresh(server, first.refresh)).status).toBe(200);
  });

  it('is narrowed, but only for the token', async () => {
    const both = 'notes:read notes:write';
    const first = await programTokens(server, await person(), {
      request: { scope: both },
      approval: { scopes: both.split(' ') },
    });
    const narrow = await refresh(server, first.refresh, { scope: 'notes:read offline_access' });
    expect(narrow.body['scope']).toBe('notes:read');
    expect((await refresh(server, first.refresh)).body['scope']).toBe(both);
  });

  it('is revoked by its program alone (RFC 7009)', async () => {
    const token = await person();
    const first = await programTokens(server, token);
    const revoke = (fields: Record<string, string>) => postForm(server, '/v1/oauth/revoke', fields);
    expect((await revoke({ token: first.refresh, client_id: 'cursor' })).status).toBe(200);
    expect(await programsOf(server, token)).toHaveLength(1);
    const access = await revoke({ token: first.access, client_id: INSPECTOR.id });
    expect([access.status, access.body['error']]).toEqual([400, 'unsupported_token_type']);
    expect((await revoke({ token: first.refresh, client_id: INSPECTOR.id })).status).toBe(200);
    expect((await revoke({ token: first.refresh, client_id: INSPECTOR.id })).status).toBe(200);
    await stream.until(String(decodeJwt(first.access)['sid']));
    expect(await programsOf(server, token)).toEqual([]);
    expect((await refresh(server, first.refresh)).body['error']).toBe('invalid_grant');
  });
});

describe('the list of programs', () => {
  it('has each approval with what it may do, and is the account’s own', async () => {
    const token = await person();
    await programTokens(server, token);
    await programTokens(server, token);
    const listed = await programsOf(server, token);
    expect(listed).toHaveLength(2);
    expect(listed[0]).toEqual({
      id: expect.any(String),
      client: { id: 'inspector', name: 'Inspector' },
      redirectUri: REDIRECT,
      resource: { id: 'notes', name: 'notes' },
      scopes: [{ id: 'notes:read', text: 'Read your notes', requires: [] }],
      kind: 'code',
      method: 'key_challenge',
      createdAt: expect.any(Number),
      lastUsedAt: expect.any(Number),
      lastAddress: expect.any(String),
      expiresAt: expect.any(Number),
    });
    expect(await programsOf(server, await person())).toEqual([]);
  });

  it('ends one program, and no other account’s', async () => {
    const token = await person();
    const first = await programTokens(server, token);
    const second = await programTokens(server, token);
    const [newest] = await programsOf(server, token);
    const end = (by: string) =>
      call(server, 'DELETE', `/v1/account/programs/${newest?.id ?? ''}`, { token: by });
    expect(refused(await end(await person()))).toBe('404 not-found');
    expect((await end(token)).status).toBe(200);
    const [event] = await stream.until(String(decodeJwt(second.access)['sid']));
    expect(JSON.stringify(event)).toContain('The access of a program was ended.');
    expect(await introspect(second.access)).toEqual({ active: false });
    expect(await introspect(first.access)).toMatchObject({ active: true });
    expect((await refresh(server, second.refresh)).body['error']).toBe('invalid_grant');
  });
});

describe('a new grant', () => {
  it('is announced to every session of the account, and to no other account', async () => {
    const key = makeDeviceKey();
    const [token, other] = [await tokenOf(server, key), await tokenOf(server, key)];
    const live = await connect(server, { token: other });
    const stranger = await connect(server, { token: await person() });
    await Promise.all([live.next('hello'), stranger.next('hello')]);
    await programTokens(server, token);
    expect(await live.next('update')).toMatchObject({ seq: 1, body: { t: 'program-granted' } });
    const body = { name: 'backup', resource: 'notes' };
    expect((await call(server, 'POST', '/v1/account/programs', { token, body })).status).toBe(200);
    expect(await live.next('update')).toMatchObject({ seq: 2, body: { t: 'program-granted' } });
    const seqOf = async () => (await connect(server, { token: other })).next('hello');
    expect(await seqOf()).toMatchObject({ seq: 2 });
    live.close();
    stranger.close();
  });
});

describe('the end of a person’s access', () => {
  it.each([
    [
      'a sign-out everywhere',
      (token: string) => call(server, 'POST', '/v1/auth/logout-everywhere', { token }),
    ],
    [
      'the deletion of the account',
      (token: string) => call(server, 'DELETE', '/v1/account', { token }),
    ],
  ])('ends programs with %s', async (_what, end) => {
    const token = await person();
    const tokens = await programTokens(server, token);
    expect((await end(token)).status).toBe(200);
    await stream.until(String(decodeJwt(tokens.access)['sid']));
    expect(await introspect(tokens.access)).toEqual({ active: false });
    expect((await refresh(server, tokens.refresh)).body['error']).toBe('invalid_grant');
  });

  it('ends programs with the approving session, if another session ends it', async () => {
    const key = makeDeviceKey();
    const [token, other] = [await tokenOf(server, key), await tokenOf(server, key)];
    const tokens = await programTokens(server, token);
    expect((await endSession(server, other, sessionIdOf(token))).status).toBe(200);
    await stream.until(String(decodeJwt(tokens.access)['sid']));
    expect((await refresh(server, tokens.refresh)).body['error']).toBe('invalid_grant');
  });

  it('keeps programs where the person signs out', async () => {
    const key = makeDeviceKey();
    const token = await tokenOf(server, key);
    const tokens = await programTokens(server, token);
    await call(server, 'POST', '/v1/auth/logout', { token });
    expect((await refresh(server, tokens.refresh)).status).toBe(200);
    expect(await introspect(tokens.access)).toMatchObject({ active: true });
    expect(await programsOf(server, await tokenOf(server, key))).toHaveLength(1);
  });
});
