import { createPublicKey, verify } from 'node:crypto';
import { GatehouseClient } from '../../../src/packages/client/api/api-client.js';
import { authChoices } from '../../../src/packages/client/api/auth-choices.js';
import { DeviceKey } from '../../../src/packages/client/crypto/device-key.js';
import { createCliUser } from '../../fixtures/programs/cli-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import {
  startLocalServer,
  type Answer,
  type LocalRequest,
  type LocalServer,
} from '../../helpers/local-server.js';

interface Login {
  readonly publicKey: string;
  readonly challenge: string;
  readonly signature: string;
}

/** A server of the protocol before challenges: no `POST /v1/auth/challenge`, and few features. */
class OlderServer {
  readonly logins: Login[] = [];

  private constructor(private readonly server: { current: LocalServer | null }) {}

  static async start(): Promise<OlderServer> {
    const holder: { current: LocalServer | null } = { current: null };
    const older = new OlderServer(holder);
    holder.current = await startLocalServer((request) => older.answer(request));
    return older;
  }

  get url(): string {
    return this.server.current?.url ?? '';
  }

  async close(): Promise<void> {
    await this.server.current?.close();
  }

  private answer({ method, url, body }: LocalRequest): Answer {
    switch (`${method} ${url.pathname}`) {
      case 'GET /v1/features':
        return { status: 200, json: FEATURES };
      case 'POST /v1/auth':
        this.logins.push(JSON.parse(body) as Login);
        return {
          status: 200,
          json: { success: true, token: 'a-token', accountId: 'an-account', created: true },
        };
      default:
        return { status: 404, json: { error: 'not-found' } };
    }
  }
}

const FEATURES = {
  features: {},
  capabilities: {
    auth: {
      signup: { methods: [{ id: 'anonymous', enabled: true }] },
      login: { requiredProviders: [] },
      providers: {},
    },
  },
};

describe('a server without challenges', () => {
  let older: OlderServer;
  beforeEach(async () => {
    older = await OlderServer.start();
  });
  afterEach(() => older.close());

  it('gets nothing signed by the client kit unless the caller allows it', async () => {
    const client = new GatehouseClient({ serverUrl: older.url });
    const key = await DeviceKey.generate();
    const refusal = { name: 'ChallengeRefused', reason: 'no-challenge' };
    await expect(client.signUp(key)).rejects.toMatchObject(refusal);
    await expect(client.logIn(key)).rejects.toThrow('allowClientChallenge');
    expect(older.logins).toEqual([]);
  });

  it('is logged in to with a challenge of the client, another one at each login', async () => {
    const client = new GatehouseClient({ serverUrl: older.url, allowClientChallenge: true });
    const key = await DeviceKey.generate();
    expect(await client.signUp(key)).toMatchObject({ success: true });
    await client.logIn(key);
    const challenges = older.logins.map(({ challenge }) => challenge);
    expect(new Set(challenges).size).toBe(2);
    for (const { publicKey, challenge, signature } of older.logins) {
      const jwk = { kty: 'OKP', crv: 'Ed25519', x: publicKey };
      const signer = createPublicKey({ key: jwk, format: 'jwk' });
      const [bytes, signed] = [challenge, signature].map((text) => Buffer.from(text, 'base64url'));
      expect(verify(null, bytes ?? Buffer.of(), signer, signed ?? Buffer.of())).toBe(true);
    }
  });

  it('is refused by the command until --older-server names it, which it remembers', async () => {
    const user = await createCliUser();
    const refused = await user.run(['signup', '--server', older.url]);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain('--older-server');
    expect(older.logins).toEqual([]);

    const signedUp = await user.run(['signup', '--server', older.url, '--older-server']);
    expect(signedUp).toMatchObject({ code: 0 });
    expect(signedUp.stderr).toContain('Warning');
    expect(await user.run(['login', '--server', older.url])).toMatchObject({ code: 0 });
    expect(older.logins).toHaveLength(2);
    const another = await OlderServer.start();
    expect((await user.run(['signup', '--server', another.url])).code).not.toBe(0);
    await another.close();
  });
});

/** The core login of the specification (Versioning 3): no discovery, and a token alone. */
function answerBeforeDiscovery(
  { method, url, headers }: LocalRequest,
  profile: object | null,
): Answer {
  const isAuthenticated = headers['authorization'] === 'Bearer a-token';
  switch (`${method} ${url.pathname}`) {
    case 'POST /v1/auth':
      return { status: 200, json: { success: true, token: 'a-token' } };
    case 'GET /v1/account/profile':
      return profile !== null && isAuthenticated
        ? { status: 200, json: profile }
        : { status: 404, json: { error: 'Not found' } };
    case 'GET /v1/push-tokens':
      return isAuthenticated
        ? { status: 200, json: { tokens: [{ id: '1', token: 'a-phone' }] } }
        : { status: 401, json: { error: 'Invalid token' } };
    default:
      return { status: 404, json: { error: 'Not found' } };
  }
}

describe('a server without GET /v1/features that answers {success, token}', () => {
  it('is refused by the client kit unless the caller allows it', async () => {
    const older = await startLocalServer((request) => answerBeforeDiscovery(request, null));
    const client = new GatehouseClient({ serverUrl: older.url });
    await expect(client.features()).rejects.toMatchObject({ status: 404 });
    await older.close();
  });

  it.each([
    ['the ID of its profile', { id: 'an-account', timestamp: 1 }, 'an-account'],
    ['the public key, where it has no profile', null, null],
  ])('names the account by %s', async (_name, profile, expected) => {
    const older = await startLocalServer((request) => answerBeforeDiscovery(request, profile));
    const client = new GatehouseClient({ serverUrl: older.url, allowClientChallenge: true });
    const key = await DeviceKey.generate();
    const accountId = expected ?? key.publicKey;
    expect(authChoices(await client.features()).deviceKey).toMatchObject({ canLogIn: true });
    expect(await client.signUp(key)).toMatchObject({ token: 'a-token', created: false, accountId });
    expect(await client.logIn(key)).toMatchObject({ accountId });
    await older.close();
  });

  it('is used by the command after --older-server names it', async () => {
    const profile = { id: 'an-account' };
    const older = await startLocalServer((request) => answerBeforeDiscovery(request, profile));
    const user = await createCliUser();
    try {
      const refused = await user.run(['signup', '--server', older.url]);
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('--older-server') });
      const signedUp = await user.run(['signup', '--server', older.url, '--older-server']);
      expect(signedUp).toMatchObject({ code: 0, stdout: expect.stringContaining('an-account') });
      expect(await user.run(['login', '--server', older.url])).toMatchObject({ code: 0 });
      const listed = await user.run(['tokens', 'list', '--json']);
      expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining('a-phone') });
    } finally {
      await older.close();
    }
  });
});

it('never sends a challenge of the client to a server that gives challenges', async () => {
  const server = await startServer();
  try {
    const client = new GatehouseClient({ serverUrl: server.url, allowClientChallenge: true });
    expect(await client.signUp(await DeviceKey.generate())).toMatchObject({ success: true });
  } finally {
    await server.stop();
  }
});
