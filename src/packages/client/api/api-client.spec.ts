import { getEventListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import type { AgentRequest } from '../../../core/protocol/agent-request.js';
import { writeLoginChallenge } from '../../../core/protocol/login-challenge.js';
import { GatehouseAdmin } from './admin-client.js';
import { GatehouseClient } from './api-client.js';
import { authChoices } from './auth-choices.js';
import { DeviceKey } from '../crypto/device-key.js';

const ROOT = new URL('../../../../', import.meta.url);

/** Routes that the client does not call. */
const NOT_FOR_CLIENTS = {
  'GET /livez': 'the orchestrator',
  'GET /readyz': 'the orchestrator',
  'GET /v1/oauth/{provider}/callback': 'the provider, through the browser',
  'GET /v1/oauth/{provider}/jwks': 'the provider',
  'POST /v1/oauth/{provider}/cancel': 'the page of the server, in the browser',
  'GET /v1/auth/mtls/start': 'the browser: certificate.startUrl',
  'GET /v1/auth/mtls/complete': 'the browser',
  'GET /v1/connect/certificate/complete': 'the browser',
  'POST /v1/auth/backchannel-logout/{provider}': 'the provider',
  'POST /v1/signals/{provider}': 'the provider',
  'POST /v1/signals/{provider}/global-token-revocation': 'the provider',
  'POST /v1/auth/providers/github/webhook': 'GitHub',
};

const SERVER = 'https://gate.example';
const REQUEST = 'A'.repeat(22);
const ASKED = { requestId: REQUEST, expiresAt: 1 } as AgentRequest;
const plain = { t: 'plain', v: 1 } as const;
const migration = {
  toMode: 'plain' as const,
  expectedSettingsVersion: 0,
  settings: null,
  credentials: [],
};

const CALLS: Record<string, (client: GatehouseClient, key: DeviceKey) => Promise<unknown>> = {
  'GET /v1/features': (client) => client.features(),
  'POST /v1/auth/challenge': (client) => client.challenge(),
  'POST /v1/auth': (client, key) => client.signUp(key),
  'POST /v1/auth/logout': (client) => client.logOut(),
  'POST /v1/auth/logout-everywhere': (client) => client.logOutEverywhere(),
  'POST /v2/auth/devices': (client) => client.devices.request({ publicKey: 'k', proofHash: 'h' }),
  'GET /v2/auth/devices/{id}': (client) => client.devices.find('a b'),
  'POST /v2/auth/devices/{id}/approve': (client) => client.devices.approve('a b', 's'),
  'DELETE /v2/auth/devices/{id}': (client) => client.devices.refuse('a b'),
  'POST /v2/auth/devices/{id}/token': (client) => client.devices.poll('a b', 'p'),
  'GET /v1/auth/external/{provider}/params': (client) =>
    client.external.start('a b', { mode: 'keyed', proofHash: 'h' }),
  'POST /v1/auth/external/{provider}/finalize': (client, key) =>
    client.external.finish('a b', { pending: 'p' }, key),
  'POST /v1/auth/external/{provider}/finalize-keyless': (client) =>
    client.external.finishKeyless('a b', { pending: 'p', proof: 's' }),
  'POST /v1/auth/external/{provider}/pending': (client) =>
    client.external.loginOf('a b', { pending: 'p', proof: 's' }),
  'DELETE /v1/auth/external/{provider}/pending/{pending}': (client) =>
    client.external.giveUp('a b', 'a b'),
  'GET /v1/connect/external/{provider}/params': (client) => client.connect.start('a b'),
  'POST /v1/connect/external/{provider}/finalize': (client) => client.connect.finish('a b', 'p'),
  'DELETE /v1/connect/external/{provider}': (client) => client.connect.disconnect('a b'),
  'POST /v1/auth/mtls': (client) => client.certificate.logIn(),
  'POST /v1/auth/mtls/claim': (client) => client.certificate.claim('c'),
  'GET /v1/connect/certificate/start': (client) => client.certificate.startConnect('acme://back'),
  'POST /v1/connect/certificate': (client) => client.certificate.connect({ code: 'c' }),
  'DELETE /v1/connect/certificate': (client) => client.certificate.disconnect(),
  'GET /v1/account/profile': (client) => client.profile(),
  'DELETE /v1/account': (client) => client.removeAccount(),
  'GET /v1/account/sessions': (client) => client.sessions(),
  'DELETE /v1/account/sessions/{id}': (client) => client.endSession('a b'),
  'PATCH /v1/account/sessions/{id}': (client) => client.renameSession('a b', 'Phone'),
  'GET /v1/account/settings': (client) => client.settings.readV1(),
  'POST /v1/account/settings': (client) => client.settings.writeV1('s', 0),
  'GET /v2/account/settings': (client) => client.settings.read(),
  'POST /v2/account/settings': (client) => client.settings.write(plain, 0),
  'GET /v1/account/encryption': (client) => client.encryption.read(),
  'PATCH /v1/account/encryption': (client) => client.encryption.change('plain'),
  'POST /v1/account/encryption/migrate': (client) => client.encryption.migrate(migration),
  'GET /v1/account/credentials': (client) => client.credentials.list(),
  'GET /v1/account/credentials/{service}': (client) => client.credentials.find('a b'),
  'PUT /v1/account/credentials/{service}': (client) => client.credentials.put('a b', plain),
  'DELETE /v1/account/credentials/{service}': (client) => client.credentials.remove('a b'),
  'GET /v1/push-tokens': (client) => client.pushTokens(),
  'POST /v1/push-tokens': (client) => client.savePushToken('t'),
  'DELETE /v1/push-tokens/{token}': (client) => client.removePushToken('a b'),
  'GET /v1/requests': (client) => client.requests.list(),
  'POST /v1/requests': (client) =>
    client.requests.create({ request: ASKED, digest: 'd', sealed: 's' }),
  'GET /v1/requests/{id}': (client) => client.requests.read(REQUEST),
  'DELETE /v1/requests/{id}': (client) => client.requests.close(REQUEST, null),
  'POST /v1/requests/{id}/answer': (client) => client.requests.deny(REQUEST),
  'DELETE /v1/requests/{id}/answers/{sessionId}': (client) =>
    client.requests.reject(REQUEST, 'a b'),
};

const CHALLENGE = Buffer.from(
  writeLoginChallenge({
    origins: ['https://gate.example'],
    nonce: 'A'.repeat(43),
    expiresAt: Date.now() + 3_600_000,
  }),
).toString('base64');

function recorder(): { readonly sent: Request[]; readonly fetch: typeof fetch } {
  const sent: Request[] = [];
  const answer = {
    ...{ success: true, challenge: CHALLENGE, token: 't', accountId: 'a', state: 'pending' },
    ...{
      id: 'i',
      userCode: 'WDJB-MJHT',
      intervalSeconds: 3,
      publicKey: 'A'.repeat(43),
      client: {},
      identities: [],
      tokens: [],
      sessions: [],
      url: 'https://idp.example/authorize?state=s',
      version: 1,
      settingsVersion: 1,
    },
    ...{ mode: 'e2ee', service: 's', content: plain, credentials: [] },
    capabilities: { auth: { methods: [] } },
  };
  const listed = {
    ...{ createdAt: 1, expiresAt: 2, sessionId: 's' },
    ...{ state: 'open', answers: [], requests: [] },
  };
  return {
    sent,
    fetch: (...args) => {
      const request = new Request(...args);
      sent.push(request);
      const isRequest = request.url.includes('/v1/requests');
      return Promise.resolve(Response.json(isRequest ? { ...answer, ...listed } : answer));
    },
  };
}

const document = JSON.parse(readFileSync(new URL('docs/openapi.json', ROOT), 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};
const routes = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
);

describe(GatehouseClient.name, () => {
  it('has a method for every route that clients call', () => {
    const covered = [...Object.keys(CALLS), ...Object.keys(NOT_FOR_CLIENTS)];
    expect(covered.sort()).toEqual(routes.sort());
  });

  it.each(Object.entries(CALLS))('sends the documented request of %s', async (route, run) => {
    const { sent, fetch } = recorder();
    const serverUrl = 'https://gate.example/base';
    const client = new GatehouseClient({ serverUrl, token: 'secret', fetch });
    await run(client, await DeviceKey.generate());
    const last = sent.at(-1)!;
    const path = new URL(last.url).pathname;
    const expected = route
      .replace(/^\w+ /, '/base')
      .replace('/v1/requests/{id}', `/v1/requests/${REQUEST}`)
      .replace(/\{\w+\}/g, 'a%20b');
    expect(`${last.method} ${path}`).toBe(`${route.split(' ')[0]} ${expected}`);
    expect(last.headers.get('authorization')).toBe('Bearer secret');
    const body = await last.text();
    expect(last.headers.get('content-type')).toBe(body === '' ? null : 'application/json');
  });

  it.each([
    ['logIn', false],
    ['signUp', true],
  ] as const)('sends with %s if an account may be created', async (method, create) => {
    const { sent, fetch } = recorder();
    const client = new GatehouseClient({ serverUrl: 'https://gate.example', fetch });
    const key = await DeviceKey.generate();
    await client[method](key);
    const body = (await sent.at(-1)!.json()) as Record<string, unknown>;
    expect(body).toMatchObject({ publicKey: key.publicKey, challenge: CHALLENGE });
    expect(body['create']).toBe(create);
  });

  it.each([undefined, false, true])('finishes a provider login with create %j', async (create) => {
    const { sent, fetch } = recorder();
    const client = new GatehouseClient({ serverUrl: 'https://gate.example', fetch });
    const finish = { pending: 'p', ...(create !== undefined && { create }) };
    await client.external.finish('okta', finish, await DeviceKey.generate());
    expect(await sent.at(-1)!.json()).toMatchObject({ pending: 'p', create: create ?? false });
  });

  it.each([
    ['logIn', (client: GatehouseClient, key: DeviceKey) => client.logIn(key)],
    ['signUp', (client: GatehouseClient, key: DeviceKey) => client.signUp(key)],
    [
      'external.finish',
      (client: GatehouseClient, key: DeviceKey) =>
        client.external.finish('okta', { pending: 'p' }, key),
    ],
  ])('sends no %s where the challenge is of another server', async (_name, run) => {
    const { sent, fetch } = recorder();
    const client = new GatehouseClient({ serverUrl: 'https://evil.example', fetch });
    await expect(run(client, await DeviceKey.generate())).rejects.toMatchObject({
      name: 'ChallengeRefused',
      reason: 'other-server',
      serverUrl: 'https://evil.example',
    });
    expect(sent.map(({ url }) => url)).toEqual(['https://evil.example/v1/auth/challenge']);
  });

  it('sends a query without the omitted parameters', async () => {
    const { sent, fetch } = recorder();
    const { external } = new GatehouseClient({ serverUrl: 'https://gate.example', fetch });
    await external.start('okta', { mode: 'keyless', proofHash: 'a&b' });
    await external.start('okta', {});
    expect(sent.map(({ url }) => new URL(url).search)).toEqual([
      '?mode=keyless&proofHash=a%26b',
      '',
    ]);
  });

  it.each(['.', '..', ''])('sends no other request for the token %j', async (token) => {
    const { sent, fetch } = recorder();
    const client = new GatehouseClient({ serverUrl: 'https://gate.example', fetch });
    await expect(client.removePushToken(token)).rejects.toThrow('"token" cannot be');
    expect(sent).toEqual([]);
  });

  it('calls a route by its name', async () => {
    const { sent, fetch } = recorder();
    const client = new GatehouseClient({ serverUrl: 'https://gate.example', fetch });
    const route = 'GET /v1/account/credentials/{service}';
    const { updatedAt } = await client.request(route, { path: { service: 'a/b' } });
    expect(updatedAt).toBeUndefined();
    expect(sent[0]?.url).toBe('https://gate.example/v1/account/credentials/a%2Fb');
  });

  it('reads the methods of an older server from its legacy surface', async () => {
    const auth = { signup: { methods: [{ id: 'anonymous', enabled: false }] } };
    const answer = (): Promise<Response> =>
      Promise.resolve(Response.json({ capabilities: { auth } }));
    const client = new GatehouseClient({ serverUrl: 'https://gate.example', fetch: answer });
    const { capabilities } = await client.features();
    expect(capabilities.auth.methods).toEqual([
      { method: 'key_challenge', action: 'login', mode: 'keyed' },
    ]);
  });

  it('shows the providers of an older server, which describes none', async () => {
    const auth = { signup: { methods: [{ id: 'github', enabled: true }] } };
    const answer = (): Promise<Response> =>
      Promise.resolve(Response.json({ capabilities: { auth } }));
    const client = new GatehouseClient({ serverUrl: 'https://gate.example', fetch: answer });
    const { providers } = authChoices(await client.features());
    expect(providers).toMatchObject([{ id: 'github', displayName: 'github' }]);
  });

  it('times out, also where an engine has no AbortSignal.timeout', async () => {
    const { timeout } = AbortSignal;
    Reflect.deleteProperty(AbortSignal, 'timeout');
    try {
      const never: typeof fetch = (_url, init) =>
        new Promise((_done, fail) =>
          init?.signal?.addEventListener('abort', () => fail(new Error('aborted'))),
        );
      const serverUrl = 'https://gate.example';
      const slow = new GatehouseClient({ serverUrl, fetch: never, timeoutMs: 50 });
      await expect(slow.challenge()).rejects.toThrow('no answer within 0.05 seconds');
      const quick = new GatehouseClient({ serverUrl, fetch: recorder().fetch });
      await expect(quick.logOut()).resolves.toBeUndefined();
    } finally {
      Object.assign(AbortSignal, { timeout });
    }
  });

  it.each([Infinity, 2 ** 31])('does not time out early with a limit of %p', async (timeoutMs) => {
    const late: typeof fetch = async (_url, init) => {
      await new Promise((done) => setTimeout(done, 50));
      init?.signal?.throwIfAborted();
      return Response.json({ success: true });
    };
    const client = new GatehouseClient({ serverUrl: SERVER, fetch: late, timeoutMs });
    await expect(client.logOut()).resolves.toBeUndefined();
  });

  it('adds one listener for all calls to the signal that ends them', async () => {
    const abort = new AbortController();
    const waiting: typeof fetch = (_url, init) =>
      new Promise((_done, fail) =>
        init?.signal?.addEventListener('abort', () => fail(new Error('aborted'))),
      );
    const { signal } = abort;
    const client = new GatehouseClient({ serverUrl: SERVER, fetch: waiting, signal });
    const calls = Array.from({ length: 20 }, () => client.withToken('t').pushTokens());
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    abort.abort();
    const results = await Promise.allSettled(calls);
    expect(results.map(({ status }) => status)).toEqual(calls.map(() => 'rejected'));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('refuses a timeout that is no number', () => {
    expect(() => new GatehouseClient({ serverUrl: SERVER, timeoutMs: NaN })).toThrow(TypeError);
  });

  it('normalizes the address of the server', async () => {
    const { sent, fetch } = recorder();
    const client = new GatehouseClient({ serverUrl: 'HTTPS://gate.example/sub/', fetch });
    await client.features();
    await client.requests.list();
    await client.programs.list().catch(() => null);
    expect(client.serverUrl).toBe('https://gate.example/sub');
    expect(sent.map(({ url }) => url)).toEqual([
      'https://gate.example/sub/v1/features',
      'https://gate.example/sub/v1/requests',
      'https://gate.example/sub/v1/account/programs',
    ]);
  });

  it.each(['', 'gate.example', 'ftp://gate.example', 'https://gate.example?x=1'])(
    'refuses %j, which is no address of a server',
    (serverUrl) => {
      const problem = 'is not the address of a server';
      expect(() => new GatehouseClient({ serverUrl })).toThrow(problem);
      expect(() => new GatehouseAdmin({ serverUrl })).toThrow(problem);
    },
  );

  it('refuses an address with a password, and does not repeat it', () => {
    const problem = 'The given text is not the address of a server.';
    const serverUrl = 'https://ada:secret@gate.example';
    expect(() => new GatehouseClient({ serverUrl })).toThrow(problem);
  });

  it.each(['a\nb', 'ключ', '\u0000'])('does not send the token %j, or name it', async (token) => {
    const { sent, fetch } = recorder();
    const client = new GatehouseClient({ serverUrl: SERVER, token, fetch });
    const problem: unknown = await client.pushTokens().catch((error: unknown) => error);
    expect(problem).toMatchObject({ code: 'invalid-token', status: 401 });
    expect(inspect(problem)).not.toContain(token);
    expect(sent).toEqual([]);
  });

  it('sends a token from a file with a line end', async () => {
    const { sent, fetch } = recorder();
    await new GatehouseClient({ serverUrl: SERVER, token: 't\r\n', fetch }).pushTokens();
    expect(sent[0]?.headers.get('authorization')).toBe('Bearer t');
  });

  it('rejects with the mistake in a request, not as if the server were unreachable', async () => {
    const { sent, fetch } = recorder();
    const client = new GatehouseClient({ serverUrl: SERVER, token: 't', fetch });
    const cyclic: Record<string, unknown> = {};
    cyclic.token = cyclic;
    const body = cyclic as { token: string };
    await expect(client.request('POST /v1/push-tokens', { body })).rejects.toThrow(TypeError);
    const id = undefined as unknown as string;
    await expect(client.endSession(id)).rejects.toThrow('"id" must be a string');
    const path = { token: '' };
    await expect(client.request('DELETE /v1/push-tokens/{token}', { path })).rejects.toThrow(
      TypeError,
    );
    await expect(client.requests.reject(REQUEST, '..')).rejects.toThrow(TypeError);
    expect(sent).toEqual([]);
  });

  it('starts in the browser to show the certificate', () => {
    const { certificate } = new GatehouseClient({ serverUrl: 'https://gate.example' });
    expect(certificate.startUrl('acme://back?x=1')).toBe(
      'https://gate.example/v1/auth/mtls/start?returnTo=acme%3A%2F%2Fback%3Fx%3D1',
    );
    expect(certificate.startUrl('acme://back', 'ab')).toBe(
      'https://gate.example/v1/auth/mtls/start?returnTo=acme%3A%2F%2Fback&proofHash=ab',
    );
  });
});
