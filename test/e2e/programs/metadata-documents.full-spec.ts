import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { certificateDirectory, TestAuthority } from '../../fixtures/certificates-fixture.js';
import {
  approve,
  authorize,
  authorizeQuery,
  newVerifier,
  PROGRAMS,
  programsOf,
  redeem,
} from '../../fixtures/programs-fixture.js';
import { backends, resourceOf, type Backends } from '../../fixtures/resource-server-fixture.js';
import { tokenOf } from '../../fixtures/sessions-fixture.js';
import { makeDeviceKey } from '../../helpers/client.js';
import { startLocalServer, type LocalServer } from '../../helpers/local-server.js';

const CALLBACK = 'https://agent.example/callback';

describe('the metadata document of a program', () => {
  const directory = certificateDirectory();
  const authority = TestAuthority.root(directory, 'Corp');
  const asked: string[] = [];
  let documents: LocalServer;
  let setup: Backends;
  let server: Server;

  /** Documents by their paths; the id is that of the address unless a field says otherwise. */
  const DOCUMENTS: Readonly<Record<string, object>> = {
    '/agent': { client_name: 'Agent', redirect_uris: [CALLBACK, 'app://x'] },
    '/other-id': { client_id: 'https://other.example/agent' },
    '/secret': { client_secret: 'known to all' },
    '/secret-method': { token_endpoint_auth_method: 'client_secret_post' },
    '/secret-basic': { token_endpoint_auth_method: 'client_secret_basic' },
    '/secret-or-none': {
      token_endpoint_auth_method: 'client_secret_jwt',
      token_endpoint_auth_methods_supported: ['client_secret_jwt', 'none'],
    },
    '/key': {
      token_endpoint_auth_method: 'private_key_jwt',
      jwks_uri: 'https://agent.example/jwks',
    },
    '/key-alone': {
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['private_key_jwt'],
    },
    '/supports-key': { token_endpoint_auth_methods_supported: ['private_key_jwt'] },
    '/certificate': { token_endpoint_auth_method: 'tls_client_auth' },
    '/key-or-none': {
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
    },
    '/nameless': { client_name: '' },
    '/blank': { client_name: '\u3164' },
    '/covering': { client_name: `Agent${'\u0301'.repeat(5)}` },
    '/app-only': { redirect_uris: ['app://x'] },
    '/large': { logo: 'x'.repeat(6000) },
    '/text': {},
    '/other-json': {},
    '/other': {},
  };

  /** Media types of documents by their paths; others are `application/json`. */
  const TYPES: Readonly<Record<string, string>> = {
    '/text': 'text/plain; charset=utf-8',
    '/other-json': 'application/oauth-client+json; charset=utf-8',
  };

  beforeAll(async () => {
    const certificate = authority.issue({ names: ['DNS:localhost'], usage: 'serverAuth' });
    documents = await startLocalServer(
      ({ url, headers }) => {
        asked.push(url.pathname);
        const document = DOCUMENTS[url.pathname];
        const id = `https://${headers['host'] ?? ''}${url.pathname}`;
        const common = { client_id: id, client_name: 'Agent', redirect_uris: [CALLBACK] };
        return document === undefined
          ? 'not-found'
          : {
              status: 200,
              json: { ...common, ...document },
              headers: { 'content-type': TYPES[url.pathname] ?? 'application/json' },
            };
      },
      { ...certificate, name: 'localhost' },
    );
    const ids = [...Object.keys(DOCUMENTS), '/missing'].map((path) => `${documents.url}${path}`);
    setup = backends([
      { id: 'notes', programs: { ...PROGRAMS, clients: ids } },
      { id: 'open', programs: { ...PROGRAMS, clients: 'any' } },
    ]);
    server = await startServer({
      env: { ...setup.env, SERVICE_CA_BUNDLE: authority.certPath },
    });
  });
  afterAll(() => Promise.all([server.stop(), documents.close()]));

  const begin = (path: string, more: object = {}, verifier = newVerifier()) =>
    authorize(
      server,
      authorizeQuery(verifier, {
        client_id: `${documents.url}${path}`,
        redirect_uri: CALLBACK,
        ...more,
      }),
    );

  it('signs a person in, is fetched once, and keeps what was approved', async () => {
    const token = await tokenOf(server, makeDeviceKey());
    const verifier = newVerifier();
    await begin('/agent');
    const [, id = ''] = (await begin('/agent', {}, verifier)).split('#');
    const clientId = `${documents.url}/agent`;
    const { body } = await approve(server, token, id, { clientId, redirectUri: CALLBACK });
    const answer = new URL(String(body['redirectTo']));
    expect(answer.href.startsWith(`${CALLBACK}?`)).toBe(true);
    const code = answer.searchParams.get('code') ?? '';
    const given = { client_id: clientId, redirect_uri: CALLBACK };
    expect((await redeem(server, code, verifier, given)).status).toBe(200);
    expect(asked.filter((path) => path === '/agent')).toHaveLength(1);
    expect(await programsOf(server, token)).toMatchObject([
      { client: { id: clientId, name: 'Agent' }, redirectUri: CALLBACK },
    ]);
  });

  it.each([
    ['/other-id', {}, 'invalid-client'],
    ['/secret', {}, 'invalid-client'],
    ['/secret-method', {}, 'unsupported-client-authentication'],
    ['/secret-basic', {}, 'unsupported-client-authentication'],
    ['/secret-or-none', {}, 'unsupported-client-authentication'],
    ['/key', {}, 'unsupported-client-authentication'],
    ['/key-alone', {}, 'unsupported-client-authentication'],
    ['/supports-key', {}, 'unsupported-client-authentication'],
    ['/certificate', {}, 'unsupported-client-authentication'],
    ['/nameless', {}, 'invalid-client'],
    ['/blank', {}, 'invalid-client'],
    ['/covering', {}, 'invalid-client'],
    ['/app-only', {}, 'invalid-client'],
    ['/large', {}, 'invalid-client'],
    ['/text', {}, 'invalid-client'],
    ['/missing', {}, 'invalid-client'],
    ['/agent?x=1', {}, 'invalid-client'],
    ['/agent', { redirect_uri: 'app://x' }, 'invalid-redirect'],
    ['/agent', { redirect_uri: 'https://evil.example/callback' }, 'invalid-redirect'],
  ])('is refused for %s %j', async (path, more, code) => {
    expect(await begin(path, more)).toBe(`https://gate.example.com/app/authorize#error=${code}`);
  });

  it('is accepted where the program supports to be a public one', async () => {
    expect(await begin('/key-or-none')).not.toContain('#error=');
  });

  it('is accepted with a more specific media type of JSON', async () => {
    expect(await begin('/other-json')).not.toContain('#error=');
  });

  it('is read however often others of its host were asked for', async () => {
    const answers = new Set<string>();
    for (let count = 0; count < 12; count += 1) {
      answers.add(await begin('/missing'));
    }
    expect([...answers].at(-1)).toContain('#error=unavailable');
    expect(await begin('/other')).not.toContain('#error=');
  });

  it('shows the refusal on the page even if only the resource is wrong: no operator configured it', async () => {
    expect(await begin('/agent', { resource: 'https://evil.example' })).toContain('#error=');
  });

  it('is not fetched from a private network, where every document is accepted', async () => {
    const before = asked.length;
    const open = { resource: resourceOf('open') };
    expect(await begin('/private', open)).toContain('#error=invalid-client');
    expect(asked).toHaveLength(before);
  });
});
