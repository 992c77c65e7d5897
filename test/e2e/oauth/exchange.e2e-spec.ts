import { createHmac, createPublicKey } from 'node:crypto';
import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  jwtVerify,
  SignJWT,
  UnsecuredJWT,
  type JSONWebKeySet,
  type JWK,
} from 'jose';
import { runSql } from '../../fixtures/programs/services-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import {
  backends,
  backendToken,
  basic,
  exchange,
  exchangeForm,
  postForm,
  resourceOf,
} from '../../fixtures/resource-server-fixture.js';
import { sessionIdOf, tokenOf } from '../../fixtures/sessions-fixture.js';
import { call, makeDeviceKey, refusalOf } from '../../helpers/client.js';
import { waitFor } from '../../helpers/wait.js';

const setup = backends([
  { id: 'relay' },
  { id: 'files', maxTokenSeconds: 60, tokenAlg: 'RS256' },
  { id: 'keyed', allowKeyless: false },
]);
let server = await startServer({ env: setup.env });
afterAll(() => server.stop());

const introspect = (token: string, id = 'relay', secret = setup.secretOf(id)) =>
  postForm(server, '/v1/oauth/introspect', { token }, basic(id, secret));

const forward = (token: string, id = 'relay', path = '') =>
  call(server, 'GET', `/v1/oauth/forward-auth/${id}${path}`, { token });

const keySet = async () => (await call<JSONWebKeySet>(server, 'GET', '/v1/oauth/jwks')).body;

const logOut = (token: string) => call(server, 'POST', '/v1/auth/logout', { token });

describe('the metadata', () => {
  it('names the endpoints (RFC 8414)', async () => {
    const { status, body } = await call(server, 'GET', '/.well-known/oauth-authorization-server');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      issuer: 'https://gate.example.com',
      token_endpoint: 'https://gate.example.com/v1/oauth/token',
      jwks_uri: 'https://gate.example.com/v1/oauth/jwks',
      introspection_endpoint: 'https://gate.example.com/v1/oauth/introspect',
      response_types_supported: [],
    });
  });

  it('publishes one public key for each algorithm, and no private part', async () => {
    const { status, headers, body } = await call<JSONWebKeySet>(server, 'GET', '/v1/oauth/jwks');
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('public, max-age=300');
    expect(body.keys.map(({ alg, kty, use }) => [alg, kty, use]).sort()).toEqual([
      ['ES256', 'EC', 'sig'],
      ['RS256', 'RSA', 'sig'],
    ]);
    expect(body.keys.flatMap((key) => ['d', 'p', 'q'].filter((part) => part in key))).toEqual([]);
  });
});

describe('the exchange', () => {
  it('issues a token that verifies with the published key (RFC 9068)', async () => {
    const session = await tokenOf(server, makeDeviceKey());
    const { status, headers, body } = await exchange(server, session, 'relay');
    expect({ status, store: headers['cache-control'] }).toEqual({ status: 200, store: 'no-store' });
    expect(body).toEqual({
      access_token: expect.any(String),
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'Bearer',
      expires_in: 300,
    });
    const { payload, protectedHeader } = await jwtVerify(
      body['access_token'] as string,
      createLocalJWKSet(await keySet()),
      { issuer: 'https://gate.example.com', audience: resourceOf('relay'), typ: 'at+jwt' },
    );
    expect(protectedHeader.alg).toBe('ES256');
    const { sub, iat = 0, exp = 0 } = payload;
    expect(payload).toMatchObject({ client_id: 'gatehouse', login_method: 'device-key' });
    expect(sub).toBe(decodeJwt(session).sub);
    expect(payload['session_exp']).toBe(decodeJwt(session).exp);
    expect(payload['sid']).not.toBe(sessionIdOf(session));
    expect(exp - iat).toBe(300);
    expect(payload).not.toHaveProperty('login');
  });

  it('keeps the algorithm and the lifetime of the entry', async () => {
    const token = await backendToken(server, await tokenOf(server, makeDeviceKey()), 'files');
    const { iat = 0, exp = 0 } = decodeJwt(token);
    expect([decodeProtectedHeader(token).alg, exp - iat]).toEqual(['RS256', 60]);
  });

  it('names a session by one id at one backend, and by another at the next', async () => {
    const session = await tokenOf(server, makeDeviceKey());
    const sids = await Promise.all(
      Array.from(
        { length: 50 },
        async () => decodeJwt(await backendToken(server, session, 'relay'))['sid'],
      ),
    );
    expect(new Set(sids).size).toBe(1);
    expect(decodeJwt(await backendToken(server, session, 'files'))['sid']).not.toBe(sids[0]);
  });

  it.each([
    [
      'another grant',
      { grant_type: 'authorization_code' },
      'unsupported_grant_type',
      'unsupported-grant-type',
    ],
    [
      'another type of token',
      { subject_token_type: 'urn:ietf:params:oauth:token-type:id_token' },
      'invalid_request',
      'invalid-request',
    ],
    [
      'an unknown resource',
      { resource: 'https://other.example.com' },
      'invalid_target',
      'invalid-target',
    ],
    [
      'a resource with a slash',
      { resource: 'https://relay.example.com/' },
      'invalid_target',
      'invalid-target',
    ],
    ['a token of another kind', { subject_token: 'a.b.c' }, 'invalid_request', 'invalid-token'],
    ['an audience', { audience: 'files' }, 'invalid_request', 'invalid-request'],
    ['a scope', { scope: 'notes:read' }, 'invalid_scope', 'invalid-scope'],
    ['an actor', { actor_token: 'x' }, 'invalid_request', 'invalid-request'],
    [
      'another requested type',
      { requested_token_type: 'urn:ietf:params:oauth:token-type:jwt' },
      'invalid_request',
      'invalid-request',
    ],
  ])('refuses %s', async (_what, fields, error, code) => {
    const form = exchangeForm(await tokenOf(server, makeDeviceKey()), 'relay');
    const { status, headers, body } = await postForm(server, '/v1/oauth/token', {
      ...form,
      ...fields,
    });
    expect({ status, error: body['error'], code: body['code'] }).toEqual({
      status: 400,
      error,
      code,
    });
    expect(headers['cache-control']).toBe('no-store');
  });

  it('takes parameters without a value for absent ones', async () => {
    const form = exchangeForm(await tokenOf(server, makeDeviceKey()), 'relay');
    const empty = {
      requested_token_type: '',
      actor_token: '',
      audience: '',
      scope: '',
      client_id: '',
    };
    expect((await postForm(server, '/v1/oauth/token', { ...form, ...empty })).status).toBe(200);
  });

  it.each(['grant_type', 'subject_token', 'subject_token_type', 'resource'])(
    'refuses a form without, and one that repeats %s',
    async (name) => {
      const form = exchangeForm(await tokenOf(server, makeDeviceKey()), 'relay');
      const fields = Object.entries(form);
      const missing = fields.filter(([field]) => field !== name);
      const repeated = [...fields, [name, form[name] ?? ''] as const];
      for (const body of [missing, repeated, [...missing, [name, ''] as const]]) {
        const answer = await postForm(server, '/v1/oauth/token', body);
        expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'invalid-request' });
      }
    },
  );

  it('accepts no JSON', async () => {
    const body = exchangeForm(await tokenOf(server, makeDeviceKey()), 'relay');
    const answer = await call(server, 'POST', '/v1/oauth/token', { body });
    expect(refusalOf(answer)).toMatchObject({ status: 415, code: 'unsupported-media-type' });
  });

  it('refuses an ended session, and a token of a backend', async () => {
    const session = await tokenOf(server, makeDeviceKey());
    const relay = await backendToken(server, session, 'relay');
    expect(refusalOf(await exchange(server, relay, 'relay'))).toMatchObject({
      code: 'invalid-token',
    });
    await logOut(session);
    expect(refusalOf(await exchange(server, session, 'relay'))).toMatchObject({
      ...{ status: 400, code: 'token-revoked' },
    });
  });
});

describe('a token of a backend', () => {
  it('is active at its backend until its session ends', async () => {
    const session = await tokenOf(server, makeDeviceKey());
    const token = await backendToken(server, session, 'relay');
    const { status, headers, body } = await introspect(token);
    expect({ status, store: headers['cache-control'] }).toEqual({ status: 200, store: 'no-store' });
    expect(body).toEqual({ active: true, token_type: 'Bearer', ...decodeJwt(token) });
    const proxied = await forward(token, 'relay', '/any/path?token=x');
    expect(proxied.status).toBe(200);
    expect(proxied.headers).toMatchObject({
      'x-gatehouse-account': decodeJwt(token).sub,
      'x-gatehouse-session': decodeJwt(token)['sid'],
      'x-gatehouse-login': '',
    });
    await logOut(session);
    expect((await introspect(token)).body).toEqual({ active: false });
    expect(refusalOf(await forward(token))).toMatchObject({ status: 401, code: 'token-revoked' });
  });

  it('passes neither at another backend nor on routes of this server', async () => {
    const session = await tokenOf(server, makeDeviceKey());
    const token = await backendToken(server, session, 'relay');
    for (const id of ['files', 'keyed']) {
      expect((await introspect(token, id)).body).toEqual({ active: false });
      expect(refusalOf(await forward(token, id))).toMatchObject({
        status: 401,
        code: 'invalid-token',
      });
    }
    const own = await call(server, 'GET', '/v1/account/profile', { token });
    expect(refusalOf(own)).toMatchObject({ status: 401, code: 'invalid-token' });
    expect((await introspect(session)).body).toEqual({ active: false });
    expect(refusalOf(await forward(session))).toMatchObject({ status: 401, code: 'invalid-token' });
  });

  it('is refused when it is forged', async () => {
    const token = await backendToken(server, await tokenOf(server, makeDeviceKey()), 'relay');
    const [head = '', payload = '', signature = ''] = token.split('.');
    const claims = decodeJwt(token);
    const { keys } = await keySet();
    const jwk = keys.find(({ alg }) => alg === 'ES256') as JWK;
    const pem = createPublicKey({ key: jwk, format: 'jwk' }).export({
      type: 'spki',
      format: 'pem',
    });
    const header = Buffer.from(
      JSON.stringify({ alg: 'HS256', typ: 'at+jwt', kid: jwk.kid }),
    ).toString('base64url');
    const mac = createHmac('sha256', pem).update(`${header}.${payload}`).digest('base64url');
    const other = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: jwk.kid ?? '' })
      .sign(new TextEncoder().encode('another secret of thirty-two bytes'));
    const changed = Buffer.from(
      JSON.stringify({ ...claims, exp: (claims.exp ?? 0) + 999 }),
    ).toString('base64url');
    const forged = [
      `${header}.${payload}.${mac}`,
      new UnsecuredJWT(claims).encode(),
      other,
      `${head}.${changed}.${signature}`,
      `${head}.${payload}.`,
      `${head}.${payload}`,
      'x'.repeat(5000),
    ];
    expect((await introspect('')).status).toBe(400);
    expect((await forward('')).status).toBe(401);
    for (const text of forged) {
      expect((await introspect(text)).body).toEqual({ active: false });
      expect([text, (await forward(text)).status]).toEqual([text, 401]);
    }
    expect((await introspect(token)).body).toMatchObject({ active: true });
  });

  it('is not active once every session of the account ended', async () => {
    const session = await tokenOf(server, makeDeviceKey());
    const token = await backendToken(server, session, 'relay');
    expect((await introspect(token)).body).toMatchObject({ active: true });
    await call(server, 'POST', '/v1/auth/logout-everywhere', { token: session });
    await waitFor(
      'the token is not active',
      async () => (await introspect(token)).body['active'] === false,
    );
  });
});

describe('introspection', () => {
  it.each([
    ['no credentials', {}],
    ['a wrong secret', basic('relay', 'not-the-secret-of-the-relay')],
    ['the secret of another backend', basic('files', setup.secretOf('relay'))],
    ['an unknown client', basic('nobody', setup.secretOf('relay'))],
    ['a bearer token', { authorization: 'Bearer x' }],
    ['text that is not base64', { authorization: 'Basic ???' }],
  ])('refuses %s', async (_what, headers) => {
    const answer = await postForm(server, '/v1/oauth/introspect', { token: 'x' }, headers);
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toBe('Basic');
    expect(answer.body).toMatchObject({ error: 'invalid_client', code: 'invalid-client' });
  });

  it('accepts two secrets during a rotation, and drops the old one without a restart', async () => {
    const old = setup.secretOf('keyed');
    const next = 'the-next-secret-of-the-backend';
    setup.setSecrets('keyed', old, next);
    await waitFor(
      'the next secret is accepted',
      async () => (await introspect('x', 'keyed', next)).status === 200,
    );
    expect((await introspect('x', 'keyed', old)).status).toBe(200);
    setup.setSecrets('keyed', next);
    await waitFor(
      'the old secret is refused',
      async () => (await introspect('x', 'keyed', old)).status === 401,
    );
  });
});

describe('a form', () => {
  const TOO_MANY = 'The form must not have more than 100 fields.';
  const send = (body: string, contentType = 'application/x-www-form-urlencoded') =>
    call(server, 'POST', '/v1/oauth/token', { body, headers: { 'content-type': contentType } });

  it('is refused with the error of OAuth when it has over 100 fields', async () => {
    const fields = (count: number) =>
      Array.from({ length: count }, (_, at) => `f${at}=x`).join('&');
    const { status, body } = await send(fields(101));
    expect([status, body]).toMatchObject([
      400,
      { error: 'invalid_request', code: 'invalid-request', details: [{ message: TOO_MANY }] },
    ]);
    const allowed = await send(`grant_type=password&${fields(99)}`);
    expect(allowed.text).not.toContain(TOO_MANY);
  });

  it.each([
    ['too large', 'x='.padEnd(40_000, 'x'), undefined, 413],
    ['of another type', '{}', 'application/json', 415],
    ['of an unknown type', 'x', 'text/x-unknown', 415],
  ])('is refused with the error of OAuth when it is %s', async (_what, body, type, status) => {
    const answer = await send(body, type);
    expect([answer.status, answer.body['error']]).toEqual([status, 'invalid_request']);
    if (status === 415) {
      expect(answer.body['message']).toContain('application/x-www-form-urlencoded');
    }
  });
});

it('keeps its keys over a restart, and shares them among replicas', async () => {
  const before = await keySet();
  const token = await backendToken(server, await tokenOf(server, makeDeviceKey()), 'relay');
  server = await server.restart();
  expect(await keySet()).toEqual(before);
  expect((await introspect(token)).body).toMatchObject({ active: true });
});

const TABLES = [
  ...['signing_key', 'resource_session', 'security_event', 'event_stream'],
  ...['event_acknowledgement', 'client_assertion'],
];

it('has none of these routes without a backend, and stores nothing', async () => {
  const plain = await startServer();
  try {
    const calls = [
      ['GET', '/.well-known/oauth-authorization-server'],
      ['GET', '/v1/oauth/jwks'],
      ['POST', '/v1/oauth/token'],
      ['POST', '/v1/oauth/introspect'],
      ['GET', '/v1/oauth/forward-auth/relay'],
      ['GET', '/.well-known/ssf-configuration'],
      ['GET', '/v1/ssf/streams'],
      ['POST', '/v1/ssf/streams'],
      ['GET', '/v1/ssf/status'],
      ['POST', '/v1/ssf/verification'],
      ['POST', '/v1/ssf/streams/x/poll'],
    ] as const;
    for (const [method, path] of calls) {
      expect([path, (await call(plain, method, path)).status]).toEqual([path, 404]);
    }
    // A login, a logout and an ended account leave no row of a backend.
    const session = await tokenOf(plain, makeDeviceKey());
    await call(plain, 'POST', '/v1/auth/logout', { token: session });
    const other = await tokenOf(plain, makeDeviceKey());
    await call(plain, 'POST', '/v1/auth/logout-everywhere', { token: other });
    for (const table of TABLES) {
      const rows = await runSql(plain.databaseUrl, `SELECT FROM ${table}`);
      expect([table, rows]).toEqual([table, []]);
    }
  } finally {
    await plain.stop();
  }
});
