import { randomBytes } from 'node:crypto';
import { deriveRequestKeyBytes } from '../../../src/packages/client/crypto/request-keys.js';
import { writeLoginChallenge } from '../../../src/core/protocol/login-challenge.js';
import {
  signedTextOf,
  writeAnswer,
  type RequestAnswer,
} from '../../../src/core/protocol/request-answer.js';
import {
  call,
  challengedLogin,
  expectErrorShape,
  issueChallenge,
  logIn,
  loginBody,
  makeDeviceKey,
  refusalOf,
} from '../../helpers/client.js';
import { type Server, startServer } from '../../fixtures/programs/server-fixture.js';
import { runSql } from '../../fixtures/programs/services-fixture.js';

const ANSWER: RequestAnswer = {
  v: 1,
  ...{ requestId: 'dVhXiA4SDZRZ-KlnlY9L-A', digest: 'A'.repeat(43) },
  choice: 'allow',
  decidedAt: 0,
};

/** Returns a text in the format of server challenges. */
const copiedChallenge = (): Buffer =>
  Buffer.from(
    writeLoginChallenge({
      origins: [],
      nonce: randomBytes(32).toString('base64url'),
      expiresAt: Date.now() + 60_000,
    }),
  );

const post = (server: Server, body: unknown) => call(server, 'POST', '/v1/auth', { body });

const server = await startServer();
afterAll(() => server.stop());

describe('a challenge that the server issued', () => {
  it('lasts 60 seconds, is unique, and is issued without a body', async () => {
    const before = Date.now();
    const answers = await Promise.all(
      [undefined, {}, ''].map((body) => call(server, 'POST', '/v1/auth/challenge', { body })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const { body } of answers) {
      expect(Object.keys(body).sort()).toEqual(['challenge', 'expiresAt']);
      expect(Number(body['expiresAt']) - before).toBeGreaterThanOrEqual(60_000);
      expect(Number(body['expiresAt']) - Date.now()).toBeLessThanOrEqual(60_000);
    }
    expect(new Set(answers.map(({ body }) => body['challenge'])).size).toBe(3);
  });

  it('is accepted once', async () => {
    const key = makeDeviceKey();
    const body = loginBody(key, await issueChallenge(server));
    expect((await post(server, body)).status).toBe(200);
    const again = await post(server, body);
    expect(refusalOf(again)).toEqual({ status: 401, code: 'challenge-expired' });
    expectErrorShape(again);
  });

  it('is accepted for exactly one of 50 simultaneous logins', async () => {
    const key = makeDeviceKey();
    const body = loginBody(key, await issueChallenge(server));
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(server, body)));
    const codes = answers.map(({ status, body: { code } }) => (status === 200 ? 'ok' : code));
    expect(codes.filter((code) => code === 'ok')).toHaveLength(1);
    expect(codes.filter((code) => code === 'challenge-expired')).toHaveLength(49);
  });

  it('is not consumed by a caller who cannot sign it', async () => {
    const challenge = await issueChallenge(server);
    const key = makeDeviceKey();
    const forged = { ...loginBody(key, challenge), signature: randomBytes(64).toString('base64') };
    expect((await post(server, forged)).status).toBe(401);
    expect((await post(server, loginBody(key, challenge))).status).toBe(200);
  });

  it('is refused when a client copies its format', async () => {
    const answer = await post(server, loginBody(makeDeviceKey(), copiedChallenge()));
    expect(refusalOf(answer)).toEqual({ status: 401, code: 'challenge-expired' });
  });

  it('is refused after it expired, and is deleted', async () => {
    const challenge = await issueChallenge(server);
    const onChallenge = (sql: string) =>
      runSql(server.databaseUrl, `${sql} WHERE challenge = $1`, [challenge]);
    await onChallenge(`UPDATE login_challenge SET expires_at = now() - interval '1 ms'`);
    const answer = await post(server, loginBody(makeDeviceKey(), challenge));
    expect(refusalOf(answer)).toEqual({ status: 401, code: 'challenge-expired' });
    expect(await onChallenge('SELECT FROM login_challenge')).toEqual([]);
  });
});

describe('a challenge that the client made', () => {
  it('is refused for a new key and for a known one', async () => {
    const known = makeDeviceKey();
    await logIn(server, known);
    for (const key of [known, makeDeviceKey()]) {
      const answer = await post(server, loginBody(key));
      expect(refusalOf(answer)).toEqual({ status: 401, code: 'challenge-required' });
      expectErrorShape(answer);
    }
  });

  it('is advertised as refused in the features', async () => {
    expect(await advertisedOf(server)).toBe('required');
  });
});

describe('with AUTH_REQUIRE_SERVER_CHALLENGE=false', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer({ env: { AUTH_REQUIRE_SERVER_CHALLENGE: 'false' } });
  });
  afterAll(() => server.stop());

  it('accepts a challenge of the client, as often as it is sent', async () => {
    expect(await advertisedOf(server)).toBe('optional');
    const body = loginBody(makeDeviceKey());
    expect((await post(server, body)).status).toBe(200);
    expect((await post(server, body)).status).toBe(200);
  });

  it('accepts a challenge of the server once, and no copy of its format', async () => {
    const body = await challengedLogin(server, makeDeviceKey());
    expect((await post(server, body)).status).toBe(200);
    expect((await post(server, body)).body['code']).toBe('challenge-expired');
    const copied = loginBody(makeDeviceKey(), copiedChallenge());
    expect((await post(server, copied)).body['code']).toBe('challenge-expired');
  });

  it('accepts no signed answer to a request as a login of its account', async () => {
    const secret = randomBytes(32);
    const key = makeDeviceKey(secret);
    await logIn(server, key);
    const signer = makeDeviceKey(Buffer.from(deriveRequestKeyBytes(secret).answerSeed));
    const answer = Buffer.from(signedTextOf(writeAnswer(ANSWER)));
    const ofSigner = { ...loginBody(signer, answer), create: false };
    expect(refusalOf(await post(server, ofSigner))).toEqual({ status: 404, code: 'not-found' });
    const ofAccount = { ...ofSigner, publicKey: key.publicKey };
    expect((await post(server, ofAccount)).status).toBe(401);
  });
});

describe('the text of a challenge', () => {
  const ORIGINS = {
    SERVICE_PUBLIC_URL: 'https://gate.example/base',
    SERVICE_LOGIN_ORIGINS: 'http://10.0.0.7:3000,https://login.example',
  };

  it.each([
    [{}, ''],
    [ORIGINS, 'https://gate.example http://10.0.0.7:3000 https://login.example'],
  ])('lists with %j the origins %j, regardless of the request', async (env, origins) => {
    const server = await startServer({ env });
    try {
      const forged = { 'x-forwarded-host': 'evil.example', origin: 'https://evil.example' };
      for (const headers of [{}, { ...forged, host: 'evil.example' }]) {
        const text = (await issueChallenge(server, { headers })).toString();
        const [version, line, nonce, expiry, ...more] = text.split('\n');
        expect({ version, line, more }).toEqual({
          version: 'gatehouse-login-v1',
          line: origins,
          more: [],
        });
        expect(nonce).toMatch(/^[\w-]{43}$/);
        expect(Number(expiry)).toBeGreaterThan(Date.now());
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1024);
      }
    } finally {
      await server.stop();
    }
  });
});

async function advertisedOf(server: Server): Promise<unknown> {
  const { body } = await call<{
    capabilities: { auth: { login: { serverChallenge: unknown } } };
  }>(server, 'GET', '/v1/features');
  return body.capabilities.auth.login.serverChallenge;
}
