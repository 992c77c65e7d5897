import { createPublicKey, verify } from 'node:crypto';
import { GatehouseClient } from '../../../src/packages/client/api/api-client.js';
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
    try {
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
    } finally {
      await user.remove();
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
