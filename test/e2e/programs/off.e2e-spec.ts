import { AdminCalls, AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { authorizeQuery, newVerifier, PROGRAM_ENV } from '../../fixtures/programs-fixture.js';
import { backends, postForm } from '../../fixtures/resource-server-fixture.js';
import { tokenOf } from '../../fixtures/sessions-fixture.js';
import { call, makeDeviceKey, refusalOf, type Answer } from '../../helpers/client.js';

const setup = backends([{ id: 'notes' }]);
const tokens = await AdminTokensFile.create();
const server = await startServer({
  env: { ...setup.env, ...PROGRAM_ENV, ...tokens.env, SERVICE_DOCS_ENABLED: 'true' },
});
const admin = new AdminCalls(await adminUrlOf(server), tokens.operator);
afterAll(() => server.stop());

/** An answer without what differs between requests and paths. */
const answerOf = ({ status, body, headers }: Answer) => ({
  status,
  body: { ...body, requestId: '', message: '' },
  headers: Object.keys(headers).filter((name) => !name.startsWith('x-ratelimit')),
});

describe('a server whose backends have no programs', () => {
  const ID = '00000000-0000-4000-8000-000000000000';
  const REQUEST = 'a'.repeat(43);
  const query = new URLSearchParams(authorizeQuery(newVerifier())).toString();

  it.each([
    ['GET', '/v1/oauth/authorize', `?${query}`],
    ['GET', `/v1/oauth/requests/${REQUEST}`],
    ['POST', `/v1/oauth/requests/${REQUEST}`],
    ['DELETE', `/v1/oauth/requests/${REQUEST}`],
    ['POST', '/v1/oauth/revoke'],
    ['GET', '/v1/account/programs'],
    ['DELETE', `/v1/account/programs/${ID}`],
    ['GET', '/app/authorize'],
  ])('answers %s %s as any unknown path', async (method, path, parameters = '') => {
    const token = await tokenOf(server, makeDeviceKey());
    const unknown = await call(server, method, `${path}-unknown`, { token });
    const answer = await call(server, method, path + parameters, { token });
    expect(refusalOf(answer).code).toBe('not-found');
    expect(answerOf(answer)).toEqual(answerOf(unknown));
  });

  it('has no route of programs on the port of administrators', async () => {
    const list = await admin.get(`/accounts/${ID}/programs`);
    expect(answerOf(list)).toEqual(answerOf(await admin.get(`/accounts/${ID}/unknown`)));
    const end = await admin.remove(`${ID}/programs/${ID}`);
    expect(answerOf(end)).toEqual(answerOf(await admin.remove(`${ID}/unknown/${ID}`)));
  });

  it('has no field of programs in its metadata, features and cross-origin answers', async () => {
    const metadata = await call(server, 'GET', '/.well-known/oauth-authorization-server');
    expect(Object.keys(metadata.body)).toEqual([
      'issuer',
      'token_endpoint',
      'jwks_uri',
      'introspection_endpoint',
      'scopes_supported',
      'response_types_supported',
      'grant_types_supported',
      'token_endpoint_auth_methods_supported',
      'token_endpoint_auth_signing_alg_values_supported',
      'introspection_endpoint_auth_methods_supported',
      'introspection_endpoint_auth_signing_alg_values_supported',
    ]);
    expect(metadata.body['response_types_supported']).toEqual([]);
    expect(JSON.stringify(metadata.body)).not.toMatch(/authorization_code|refresh_token/);
    const features = await call(server, 'GET', '/v1/features');
    expect(features.text).not.toContain('programs');
  });

  it('documents no route of programs', async () => {
    const { status, body } = await call(server, 'GET', '/docs/openapi.json');
    expect(status).toBe(200);
    const paths = Object.keys(body['paths'] as object);
    expect(paths).toContain('/v1/oauth/token');
    expect(
      paths.filter((path) => /programs|oauth\/(authorize|requests|revoke)/.test(path)),
    ).toEqual([]);
  });

  it.each(['authorization_code', 'refresh_token'])('knows no grant type %s', async (type) => {
    const { status, body } = await postForm(server, '/v1/oauth/token', { grant_type: type });
    expect([status, body['error']]).toEqual([400, 'unsupported_grant_type']);
  });
});
