import { ManualClock } from '../../../../test/fixtures/manual-clock.js';
import { ManualTimers } from '../../../../test/fixtures/manual-timers.js';
import { Random } from '../../../common/runtime/random.js';
import { readOptions } from '../guard-options.js';
import { IssuerClient } from './issuer-client.js';

const NOW = Date.UTC(2026, 9, 1);
const ISSUER = 'https://gate.example';

interface Sent {
  readonly url: string;
  readonly method: string | undefined;
  readonly authorization: string | undefined;
  readonly body: unknown;
}

/** Answers by path: a document, or a status without one. */
type Answers = Readonly<Record<string, object | number>>;

let clock: ManualClock;
let sent: Sent[];
beforeEach(() => {
  clock = new ManualClock(NOW);
  sent = [];
});

const documents = (issuer = ISSUER): Record<string, object> => ({
  '/.well-known/oauth-authorization-server': {
    issuer,
    token_endpoint: `${ISSUER}/token`,
    jwks_uri: `${ISSUER}/jwks`,
    introspection_endpoint: `${ISSUER}/introspect`,
  },
  '/.well-known/ssf-configuration': {
    issuer,
    jwks_uri: `${ISSUER}/signal-jwks`,
    configuration_endpoint: `${ISSUER}/streams`,
  },
  '/jwks': { keys: [] },
  '/token': { access_token: 't1', expires_in: 300 },
  '/introspect': { active: true, sub: 'ada' },
  '/streams': { stream_id: 's' },
});

function clientOf(change: Answers = {}, issuer = ISSUER): IssuerClient {
  const answers: Answers = { ...documents(issuer), ...change };
  const send: typeof fetch = (input, init) => {
    const url = input as string;
    const headers = init?.headers as Record<string, string>;
    sent.push({
      url,
      method: init?.method,
      body: init?.body,
      authorization: headers['authorization'],
    });
    const answer = answers[new URL(url).pathname] ?? 404;
    const date = new Date(clock.now()).toUTCString();
    return Promise.resolve(
      typeof answer === 'number'
        ? new Response(null, { status: answer, headers: { date } })
        : Response.json(answer, { headers: { date } }),
    );
  };
  const client = { id: 'relay', secret: 'secret' };
  const resource = 'https://relay.example';
  const runtime = { clock, timers: new ManualTimers(clock), random: new Random() };
  return new IssuerClient(readOptions({ issuer, resource, client, fetch: send }), runtime);
}

const paths = (): string[] => sent.map(({ url }) => new URL(url).pathname);
const BASIC = `Basic ${Buffer.from('relay:secret').toString('base64')}`;

describe(IssuerClient.name, () => {
  it('reads the addresses of the issuer, and again after five minutes', async () => {
    const client = clientOf();
    const expected = {
      tokenEndpoint: `${ISSUER}/token`,
      keySetUrl: `${ISSUER}/jwks`,
      introspectionEndpoint: `${ISSUER}/introspect`,
    };
    expect(await client.issuerMetadata()).toEqual(expected);
    await clock.advance(299_999);
    expect(await client.issuerMetadata()).toEqual(expected);
    expect(sent).toHaveLength(1);
    await clock.advance(1);
    await client.issuerMetadata();
    expect(sent).toHaveLength(2);
  });

  it('reads the addresses of the transmitter, and again after five minutes', async () => {
    const client = clientOf();
    const expected = {
      keySetUrl: `${ISSUER}/signal-jwks`,
      configurationEndpoint: `${ISSUER}/streams`,
    };
    expect(await client.transmitterMetadata()).toEqual(expected);
    await clock.advance(299_999);
    expect(await client.transmitterMetadata()).toEqual(expected);
    expect(paths()).toEqual(['/.well-known/ssf-configuration']);
    await clock.advance(1);
    await client.transmitterMetadata();
    expect(sent).toHaveLength(2);
  });

  it('puts the well-known name before the path of the issuer (RFC 8414, 3)', async () => {
    const issuer = `${ISSUER}/gate`;
    const path = '/.well-known/oauth-authorization-server/gate';
    const document = documents(issuer)['/.well-known/oauth-authorization-server'] ?? {};
    await clientOf({ [path]: document }, issuer).issuerMetadata();
    expect(paths()).toEqual([path]);
  });

  it('refuses the metadata of another issuer, and does not keep it', async () => {
    const path = '/.well-known/oauth-authorization-server';
    const document = documents('https://other.example')[path] ?? {};
    const client = clientOf({ [path]: document });
    for (let count = 1; count <= 2; count += 1) {
      await expect(client.issuerMetadata()).rejects.toThrow('the metadata is of another issuer');
      expect(sent).toHaveLength(count);
    }
  });

  it.each([
    ['/.well-known/oauth-authorization-server', 'token_endpoint', 'issuerMetadata'],
    ['/.well-known/oauth-authorization-server', 'jwks_uri', 'issuerMetadata'],
    ['/.well-known/oauth-authorization-server', 'introspection_endpoint', 'issuerMetadata'],
    ['/.well-known/ssf-configuration', 'jwks_uri', 'transmitterMetadata'],
    ['/.well-known/ssf-configuration', 'configuration_endpoint', 'transmitterMetadata'],
  ] as const)('refuses %s without the text of %s', async (path, name, read) => {
    for (const value of [undefined, '', 7]) {
      const document = { ...documents()[path], [name]: value };
      const reading = clientOf({ [path]: document })[read]();
      await expect(reading).rejects.toThrow(`the answer has no "${name}"`);
    }
  });

  it('reads a key set, and refuses an answer without keys', async () => {
    expect(await clientOf().keySet(`${ISSUER}/jwks`)).toEqual({ keys: [] });
    const reading = clientOf({ '/jwks': { keys: 'x' } }).keySet(`${ISSUER}/jwks`);
    await expect(reading).rejects.toThrow('the key set has no keys');
  });

  it('asks about a token as the backend (RFC 7662)', async () => {
    expect(await clientOf().introspect('a&b')).toEqual({ active: true, sub: 'ada' });
    expect(sent.at(-1)).toEqual({
      url: `${ISSUER}/introspect`,
      method: 'POST',
      body: 'token=a%26b',
      authorization: BASIC,
    });
  });

  it('requests a token of its own, and sends it', async () => {
    const client = clientOf();
    const request = { method: 'POST', json: { a: 1 } } as const;
    const { body } = await client.sendAuthorized(`${ISSUER}/streams`, request);
    expect(body).toEqual({ stream_id: 's' });
    expect(sent.slice(1)).toEqual([
      {
        url: `${ISSUER}/token`,
        method: 'POST',
        authorization: BASIC,
        body: 'grant_type=client_credentials&scope=ssf.manage+ssf.read',
      },
      {
        url: `${ISSUER}/streams`,
        method: 'POST',
        authorization: 'Bearer t1',
        body: '{"a":1}',
      },
    ]);
  });

  it.each([
    [300, 240_000],
    // A token with a short life is renewed after a half of it.
    [60, 30_000],
  ])('renews a token of %i s after %i ms', async (expires_in, lifeMs) => {
    const client = clientOf({ '/token': { access_token: 't1', expires_in } });
    const send = () => client.sendAuthorized(`${ISSUER}/streams`, {});
    const tokens = (): number => paths().filter((path) => path === '/token').length;
    await send();
    await clock.advance(lifeMs - 1);
    await send();
    expect(tokens()).toBe(1);
    await clock.advance(1);
    await send();
    expect(tokens()).toBe(2);
  });

  it('requests another token where the first has no life, or was refused', async () => {
    const tokens = (): number => paths().filter((path) => path === '/token').length;
    const lifeless = clientOf({ '/token': { access_token: 't1' } });
    await lifeless.sendAuthorized(`${ISSUER}/streams`, {});
    await lifeless.sendAuthorized(`${ISSUER}/streams`, {});
    expect(tokens()).toBe(2);
    sent = [];
    const refused = clientOf({ '/streams': 401 });
    for (let count = 1; count <= 2; count += 1) {
      const sending = refused.sendAuthorized(`${ISSUER}/streams`, {});
      await expect(sending).rejects.toMatchObject({ status: 401 });
      expect(tokens()).toBe(count);
    }
  });

  it('keeps its token after a refusal of another kind', async () => {
    const client = clientOf({ '/streams': 404 });
    for (let count = 0; count < 2; count += 1) {
      const sending = client.sendAuthorized(`${ISSUER}/streams`, {});
      await expect(sending).rejects.toMatchObject({ status: 404 });
    }
    expect(paths().filter((path) => path === '/token')).toHaveLength(1);
  });

  it('refuses a grant without a token', async () => {
    const client = clientOf({ '/token': { expires_in: 300 } });
    const sending = client.sendAuthorized(`${ISSUER}/streams`, {});
    await expect(sending).rejects.toThrow('the answer has no "access_token"');
  });
});
