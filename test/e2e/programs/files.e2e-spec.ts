import { decodeJwt } from 'jose';
import { AdminCalls, AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';
import { EventStreamFixture } from '../../fixtures/event-stream-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { runSql } from '../../fixtures/programs/services-fixture.js';
import {
  authorize,
  authorizeQuery,
  newVerifier,
  PROGRAM_ENV,
  PROGRAMS,
  programsOf,
  refresh,
} from '../../fixtures/programs-fixture.js';
import { backends, basic, postForm, resourceOf } from '../../fixtures/resource-server-fixture.js';
import { sessionIdOf, tokenOf } from '../../fixtures/sessions-fixture.js';
import { call, makeDeviceKey, refusalOf, type Answer, type Json } from '../../helpers/client.js';

const CLIENT = { client_id: 'gatehouse-file' };

/** Scopes that make tokens as long as `@gatehouse/guard` accepts. */
const MANY = Array.from({ length: 80 }, (_one, at) => `scope-${at}`.padEnd(56, '.'));

const setup = backends([
  { id: 'notes', programs: { ...PROGRAMS, maxGrantSeconds: 7200 } },
  { id: 'files', programs: { ...PROGRAMS, clients: ['cursor'] } },
  { id: 'listed', programs: { ...PROGRAMS, clients: ['gatehouse-file'] } },
  { id: 'relay' },
  {
    id: 'wide',
    programs: {
      checksScopes: true,
      scopes: Object.fromEntries(MANY.map((id) => [id, id])),
      initial: MANY,
    },
  },
]);
const tokens = await AdminTokensFile.create();
const server = await startServer({
  env: { ...setup.env, ...PROGRAM_ENV, ...tokens.env, AUTH_FRESH_LOGIN_SECONDS: '0' },
});
const admin = new AdminCalls(await adminUrlOf(server), tokens.operator);
const stream = await EventStreamFixture.open(server, setup, 'notes');
afterAll(() => server.stop());

const person = () => tokenOf(server, makeDeviceKey());

const add = (token: string, more: Json = {}): Promise<Answer> => {
  const body = { name: 'backup', resource: 'notes', ...more };
  return call(server, 'POST', '/v1/account/programs', { token, body });
};

const added = async (token: string, more: Json = {}): Promise<Json> => {
  const { status, body, text } = await add(token, more);
  if (status !== 200) {
    throw new Error(`The file was refused: ${status} ${text}`);
  }
  return body;
};

const accessOf = async (refreshToken: unknown): Promise<string> => {
  const { body } = await refresh(server, String(refreshToken), CLIENT);
  return String(body['access_token']);
};

const isActive = async (token: string, id = 'notes'): Promise<unknown> =>
  (await postForm(server, '/v1/oauth/introspect', { token }, basic(id, setup.secretOf(id)))).body[
    'active'
  ];

const refused = (answer: Answer): string => {
  const { status, code } = refusalOf(answer);
  return `${String(status)} ${String(code)}`;
};

describe('a program with a file', () => {
  it('has tokens that introspection knows, also with many scopes', async () => {
    const file = await added(await person(), { resource: 'wide' });
    const access = await accessOf(file['refreshToken']);
    expect(access.length).toBeGreaterThan(6000);
    expect(await isActive(access, 'wide')).toBe(true);
  });

  it('gets tokens with its name and the granted scopes, and is listed', async () => {
    const token = await person();
    const before = Date.now();
    const file = await added(token, { scopes: ['notes:write'], expiresInSeconds: 3600 });
    expect(file).toEqual({
      id: expect.any(String),
      clientId: 'gatehouse-file',
      refreshToken: expect.any(String),
      resource: { id: 'notes', name: 'notes' },
      scopes: [
        { id: 'notes:read', text: 'Read your notes', requires: [] },
        { id: 'notes:write', text: 'Change your notes', requires: ['notes:read'] },
      ],
      expiresAt: expect.any(Number),
    });
    expect(Number(file['expiresAt']) - before).toBeGreaterThanOrEqual(3_600_000);
    expect(Number(file['expiresAt'])).toBeLessThanOrEqual(Date.now() + 3_600_000);
    const access = await accessOf(file['refreshToken']);
    expect(decodeJwt(access)).toMatchObject({
      aud: resourceOf('notes'),
      sub: decodeJwt(token).sub,
      client_id: 'gatehouse-file',
      client_name: 'backup',
      grant_id: file['id'],
      scope: 'notes:read notes:write',
      session_exp: Math.floor(Number(file['expiresAt']) / 1000),
    });
    expect(await isActive(access)).toBe(true);
    expect(await programsOf(server, token)).toMatchObject([
      {
        id: file['id'],
        client: { id: 'gatehouse-file', name: 'backup' },
        redirectUri: null,
        kind: 'file',
        method: 'key_challenge',
      },
    ]);
  });

  it('gets the initial scopes, and no more time than the backend allows', async () => {
    const token = await person();
    for (const more of [{}, { expiresInSeconds: 31_536_000 }]) {
      const { scopes, expiresAt } = await added(token, more);
      expect(scopes).toMatchObject([{ id: 'notes:read' }]);
      expect(Number(expiresAt)).toBeLessThanOrEqual(Date.now() + 7_200_000);
    }
    await added(token, { resource: 'listed' });
  });

  it.each([
    ['an unknown backend', { resource: 'other' }, '400 invalid-target'],
    ['a backend without programs', { resource: 'relay' }, '400 invalid-target'],
    ['a backend that does not list files', { resource: 'files' }, '400 invalid-target'],
    [
      'a scope that the backend does not have',
      { scopes: ['notes:read', 'all'] },
      '400 invalid-scope',
    ],
    ['a scope of the language', { scopes: ['constructor'] }, '400 invalid-scope'],
    ['no scope', { scopes: [] }, '400 invalid-scope'],
    ['no name', { name: '' }, '400 invalid-request'],
    ['a name of blanks', { name: '  ' }, '400 invalid-request'],
    ['a name with a line break', { name: 'a\nb' }, '400 invalid-request'],
    ['a long name', { name: 'x'.repeat(65) }, '400 invalid-request'],
    ['a time that is over at once', { expiresInSeconds: 59 }, '400 invalid-request'],
    ['more than a year', { expiresInSeconds: 31_536_001 }, '400 invalid-request'],
  ])('is refused with %s', async (_what, more, refusal) => {
    const token = await person();
    expect(refused(await add(token, more))).toBe(refusal);
    expect(await programsOf(server, token)).toEqual([]);
  });

  it('is refused with the names that the person can choose from', async () => {
    const token = await person();
    const unknown = await add(token, { resource: 'other' });
    expect(unknown.body['details']).toEqual([
      {
        path: 'resource',
        message: 'Backends for which programs can be added: notes, listed, wide.',
      },
    ]);
    const scope = await add(token, { scopes: ['all'] });
    expect(scope.body['details']).toEqual([
      { path: 'scopes', message: 'The backend has: notes:read, notes:write.' },
    ]);
  });

  it('needs a login of the last 900 seconds, also where the server demands none', async () => {
    const token = await person();
    await runSql(
      server.databaseUrl,
      `UPDATE session SET created_at = created_at - interval '901 seconds' WHERE id = $1`,
      [sessionIdOf(token)],
    );
    expect(refused(await add(token))).toBe('403 fresh-login-required');
  });

  it('needs the session of a person: no program adds another one', async () => {
    const { refreshToken } = await added(await person());
    expect(refused(await add(await accessOf(refreshToken)))).toBe('401 invalid-token');
    expect(refused(await call(server, 'POST', '/v1/account/programs', { body: {} }))).toBe(
      '401 missing-token',
    );
  });

  it('is added 20 times an hour, and the one too many is not stored', async () => {
    const token = await person();
    for (let count = 0; count < 20; count += 1) {
      await added(token);
    }
    expect(refused(await add(token))).toBe('429 rate-limited');
    expect(await programsOf(server, token)).toHaveLength(20);
  });

  it('gets no code, whatever address it names', async () => {
    expect(await authorize(server, authorizeQuery(newVerifier(), CLIENT))).toBe(
      'https://gate.example.com/app/authorize#error=invalid-client',
    );
  });

  const END_OF_ONE = (token: string, { id }: Json) =>
    call(server, 'DELETE', `/v1/account/programs/${String(id)}`, { token });

  it.each([
    ['its end by the person', END_OF_ONE],
    [
      'its revocation by the program (RFC 7009)',
      (_token: string, { refreshToken }: Json) =>
        postForm(server, '/v1/oauth/revoke', { ...CLIENT, token: String(refreshToken) }),
    ],
    [
      'its end by an administrator',
      (token: string, { id }: Json) =>
        admin.remove(`${String(decodeJwt(token).sub)}/programs/${String(id)}`),
    ],
  ])('ends with %s', async (_what, end) => {
    const token = await person();
    const file = await added(token);
    const access = await accessOf(file['refreshToken']);
    expect((await end(token, file)).status).toBe(200);
    await stream.until(String(decodeJwt(access)['sid']));
    expect(await isActive(access)).toBe(false);
    const again = await refresh(server, String(file['refreshToken']), CLIENT);
    expect([again.status, again.body['error']]).toEqual([400, 'invalid_grant']);
  });

  it('is in the audit trail by its name', async () => {
    const token = await person();
    await END_OF_ONE(token, await added(token));
    const { body } = await admin.get(`/audit?accountId=${String(decodeJwt(token).sub)}`);
    const events = body['events'] as Json[];
    expect(events.map(({ kind, detail }) => [kind, detail])).toEqual(
      expect.arrayContaining([
        ['program-approved', 'gatehouse-file (backup) at notes: notes:read'],
        ['program-ended', 'gatehouse-file (backup) at notes'],
      ]),
    );
  });
});
