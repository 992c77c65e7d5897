import { startServer } from '../../fixtures/programs/server-fixture.js';
import {
  approve,
  authorize,
  authorizeQuery,
  beginRequest,
  newVerifier,
  PROGRAM_ENV,
  PROGRAMS,
  REDIRECT,
} from '../../fixtures/programs-fixture.js';
import { backends, resourceOf } from '../../fixtures/resource-server-fixture.js';
import { tokenOf } from '../../fixtures/sessions-fixture.js';
import { call, makeDeviceKey, refusalOf, type Answer } from '../../helpers/client.js';

const setup = backends([
  { id: 'notes', programs: PROGRAMS },
  { id: 'files', programs: { ...PROGRAMS, clients: ['cursor'] }, maxTokenSeconds: 120 },
  { id: 'relay' },
]);
const server = await startServer({ env: { ...setup.env, ...PROGRAM_ENV } });
afterAll(() => server.stop());

const refused = (answer: Answer): string => {
  const { status, code } = refusalOf(answer);
  return `${String(status)} ${String(code)}`;
};

const person = () => tokenOf(server, makeDeviceKey());

describe('the metadata', () => {
  it('names what programs need, and no scope of a backend', async () => {
    const { body } = await call(server, 'GET', '/.well-known/oauth-authorization-server');
    expect(body).toMatchObject({
      authorization_endpoint: 'https://gate.example.com/v1/oauth/authorize',
      revocation_endpoint: 'https://gate.example.com/v1/oauth/revoke',
      revocation_endpoint_auth_methods_supported: ['none'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      code_challenge_methods_supported: ['S256'],
      scopes_supported: ['offline_access'],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
    });
    expect(body['grant_types_supported']).toEqual(
      expect.arrayContaining(['authorization_code', 'refresh_token']),
    );
    expect(body['token_endpoint_auth_methods_supported']).toContain('none');
  });
});

describe('the request of a program', () => {
  const errorOf = async (more: object) =>
    new URL(await authorize(server, authorizeQuery(newVerifier(), { ...more }))).searchParams;

  it('is shown to the person, with the texts of its scopes', async () => {
    const token = await person();
    const id = await beginRequest(server, newVerifier(), { scope: 'notes:write offline_access' });
    const { status, body } = await call(server, 'GET', `/v1/oauth/requests/${id}`, { token });
    expect(status).toBe(200);
    expect(body).toEqual({
      client: { id: 'inspector', name: 'Inspector' },
      redirectUri: REDIRECT,
      resource: { id: 'notes', name: 'notes' },
      scopes: [
        { id: 'notes:read', text: 'Read your notes', requires: [] },
        { id: 'notes:write', text: 'Change your notes', requires: ['notes:read'] },
      ],
      expiresAt: expect.any(Number),
      grantExpiresAt: expect.any(Number),
    });
  });

  it.each([[''], ['offline_access'], ['unknown other']])(
    'means the initial scopes where it asks for %j',
    async (scope) => {
      const id = await beginRequest(server, newVerifier(), { scope });
      const token = await person();
      const { body } = await call(server, 'GET', `/v1/oauth/requests/${id}`, { token });
      expect((body['scopes'] as { id: string }[]).map((one) => one.id)).toEqual(['notes:read']);
    },
  );

  it('takes the slash at the end of a resource, and any port on loopback', async () => {
    const resource = `${resourceOf('notes')}/`;
    const redirectUri = 'http://127.0.0.1:1/callback';
    await beginRequest(server, newVerifier(), { resource, redirect_uri: redirectUri });
  });

  it.each([
    ['an unknown program', { client_id: 'nobody' }, 'invalid-client'],
    ['no program', { client_id: '' }, 'invalid-client'],
    [
      'a program of another backend',
      { client_id: 'inspector', resource: resourceOf('files') },
      'invalid-client',
    ],
    ['another path', { redirect_uri: 'http://127.0.0.1/other' }, 'invalid-redirect'],
    ['another loopback host', { redirect_uri: 'http://localhost/callback' }, 'invalid-redirect'],
    ['another host', { redirect_uri: 'https://evil.example/callback' }, 'invalid-redirect'],
    ['a fragment', { redirect_uri: `${REDIRECT}#x` }, 'invalid-redirect'],
    ['no address', { redirect_uri: '' }, 'invalid-request'],
  ])('shows on the page that %s is refused', async (_what, more, code) => {
    expect(await authorize(server, authorizeQuery(newVerifier(), more))).toBe(
      `https://gate.example.com/app/authorize#error=${code}`,
    );
  });

  it.each([
    ['no resource', { resource: '' }, 'invalid_target'],
    ['a backend without programs', { resource: resourceOf('relay') }, 'invalid_target'],
    ['an unknown resource', { resource: 'https://evil.example' }, 'invalid_target'],
    ['a token in the address', { response_type: 'token' }, 'unsupported_response_type'],
    ['a code and a token', { response_type: 'code token' }, 'unsupported_response_type'],
    ['no response type', { response_type: '' }, 'invalid_request'],
    ['an answer in the fragment', { response_mode: 'fragment' }, 'invalid_request'],
    ['an answer in a form', { response_mode: 'form_post' }, 'invalid_request'],
    ['a request without the page', { prompt: 'none' }, 'interaction_required'],
    ['a long scope', { scope: 'x'.repeat(2049) }, 'invalid_request'],
    ['a malformed challenge', { code_challenge: 'short' }, 'invalid_request'],
    ['no method of the challenge', { code_challenge_method: '' }, 'invalid_request'],
    ['no challenge', { code_challenge: '' }, 'invalid_request'],
    ['a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
  ])('tells a configured program at its address that %s is refused', async (_what, more, error) => {
    const answer = await errorOf(more);
    expect(Object.fromEntries(answer)).toEqual({
      error,
      state: 'a state + more',
      iss: 'https://gate.example.com',
    });
  });

  const repeat = async (name: string) => {
    const query = Object.entries(authorizeQuery(newVerifier(), { scope: 'notes:read' }));
    return authorize(server, [...query, [name, 'again'] as const]);
  };

  it.each([
    ['scope', 'invalid_request'],
    ['response_type', 'invalid_request'],
    ['code_challenge', 'invalid_request'],
    ['code_challenge_method', 'invalid_request'],
    ['resource', 'invalid_target'],
  ])('tells a configured program at its address that it repeats %s', async (name, error) => {
    const answer = new URL(await repeat(name));
    expect(`${answer.origin}${answer.pathname}`).toBe(REDIRECT);
    expect(Object.fromEntries(answer.searchParams)).toEqual({
      error,
      state: 'a state + more',
      iss: 'https://gate.example.com',
    });
  });

  it('returns no state to a program that repeats it', async () => {
    const { searchParams } = new URL(await repeat('state'));
    expect(Object.fromEntries(searchParams)).toEqual({
      error: 'invalid_request',
      iss: 'https://gate.example.com',
    });
  });

  it('returns no state to a program that sends none', async () => {
    const answer = await errorOf({ state: '', response_type: 'token' });
    expect(answer.get('error')).toBe('unsupported_response_type');
    expect(answer.has('state')).toBe(false);
  });

  it.each([['client_id'], ['redirect_uri']])(
    'shows on the page that %s is repeated',
    async (name) => {
      expect(await repeat(name)).toBe(
        'https://gate.example.com/app/authorize#error=invalid-request',
      );
    },
  );

  it.each([[{ response_mode: 'query' }], [{ prompt: 'consent' }], [{ unknown: 'x'.repeat(3000) }]])(
    'begins with %j',
    async (more) => {
      await beginRequest(server, newVerifier(), more);
    },
  );

  it('is denied by the person, with the state and the issuer', async () => {
    const token = await person();
    const id = await beginRequest(server, newVerifier());
    const deny = () => call(server, 'DELETE', `/v1/oauth/requests/${id}`, { token });
    const { body } = await deny();
    const answer = new URL(String(body['redirectTo']));
    expect(answer.href.startsWith(`${REDIRECT}?`)).toBe(true);
    expect(Object.fromEntries(answer.searchParams)).toEqual({
      error: 'access_denied',
      state: 'a state + more',
      iss: 'https://gate.example.com',
    });
    expect(refused(await deny())).toBe('409 request-expired');
  });

  it.each([
    ['another program', { clientId: 'cursor' }, '409 request-changed'],
    ['another address', { redirectUri: 'http://127.0.0.1:9/callback' }, '409 request-changed'],
    ['no scope', { scopes: [] }, '400 invalid-scope'],
    [
      'a scope that was not asked for',
      { scopes: ['notes:read', 'notes:write'] },
      '400 invalid-scope',
    ],
    ['an unknown scope', { scopes: ['notes:read', 'all'] }, '400 invalid-scope'],
    ['the name of a method', { scopes: ['constructor'] }, '400 invalid-scope'],
  ])('is not approved with %s, and stays', async (_what, more, refusal) => {
    const token = await person();
    const id = await beginRequest(server, newVerifier());
    expect(refused(await approve(server, token, id, more))).toBe(refusal);
    expect((await approve(server, token, id)).status).toBe(200);
    expect(refused(await approve(server, token, id))).toBe('409 request-expired');
  });

  it('is not approved with a scope alone that requires another', async () => {
    const token = await person();
    const id = await beginRequest(server, newVerifier(), { scope: 'notes:write' });
    expect(refused(await approve(server, token, id, { scopes: ['notes:write'] }))).toBe(
      '400 invalid-scope',
    );
  });

  it('makes one code for 20 simultaneous approvals', async () => {
    const token = await person();
    const id = await beginRequest(server, newVerifier());
    const answers = await Promise.all(Array.from({ length: 20 }, () => approve(server, token, id)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('is not approved without a session', async () => {
    const id = await beginRequest(server, newVerifier());
    expect(refused(await call(server, 'GET', `/v1/oauth/requests/${id}`))).toBe(
      '401 missing-token',
    );
    expect(refused(await approve(server, 'none', id))).toBe('401 invalid-token');
  });
});
