import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import {
  call,
  expectErrorShape,
  logIn,
  loginBody,
  makeDeviceKey,
  refusalOf,
} from '../helpers/client.js';
import { IS_POSTGRES, type Server, startServer } from '../helpers/server.js';

const OWN_PREFIX = Buffer.from('gatehouse-challenge-v1:');

async function issue(server: Server): Promise<Buffer> {
  const { status, body } = await call<{ challenge: string; expiresAt: number }>(
    server,
    'POST',
    '/v1/auth/challenge',
    { body: {} },
  );
  expect(status).toBe(200);
  return Buffer.from(body.challenge, 'base64');
}

const post = (server: Server, body: unknown) => call(server, 'POST', '/v1/auth', { body });

describe('a challenge of the server', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer();
  }, 40_000);
  afterAll(() => server.stop());

  it('lives 60 seconds, is never the same, and needs no body', async () => {
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

  it('passes once', async () => {
    const key = makeDeviceKey();
    const body = loginBody(key, await issue(server));
    expect((await post(server, body)).status).toBe(200);
    const again = await post(server, body);
    expect(refusalOf(again)).toEqual({ status: 401, code: 'challenge-expired' });
    expectErrorShape(again);
  });

  it('passes for exactly one of 50 logins at once', async () => {
    const key = makeDeviceKey();
    const body = loginBody(key, await issue(server));
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(server, body)));
    const codes = answers.map(({ status, body: { code } }) => (status === 200 ? 'ok' : code));
    expect(codes.filter((code) => code === 'ok')).toHaveLength(1);
    expect(codes.filter((code) => code === 'challenge-expired')).toHaveLength(49);
  });

  it('is not used up by somebody who cannot sign it', async () => {
    const challenge = await issue(server);
    const key = makeDeviceKey();
    const forged = { ...loginBody(key, challenge), signature: randomBytes(64).toString('base64') };
    expect((await post(server, forged)).status).toBe(401);
    expect((await post(server, loginBody(key, challenge))).status).toBe(200);
  });

  it('cannot be made by a client that copies its form', async () => {
    const copied = Buffer.concat([OWN_PREFIX, randomBytes(32)]);
    const answer = await post(server, loginBody(makeDeviceKey(), copied));
    expect(refusalOf(answer)).toEqual({ status: 401, code: 'challenge-expired' });
  });

  const withSql = IS_POSTGRES ? it : it.skip;
  withSql('is refused after its time, and is gone then (needs SQL: PostgreSQL only)', async () => {
    const challenge = await issue(server);
    const client = new Client({ connectionString: server.databaseUrl ?? '' });
    await client.connect();
    try {
      const aged = await client.query(
        `UPDATE login_challenge SET expires_at = now() - interval '1 ms' WHERE challenge = $1`,
        [challenge],
      );
      expect(aged.rowCount).toBe(1);
      const answer = await post(server, loginBody(makeDeviceKey(), challenge));
      expect(refusalOf(answer)).toEqual({ status: 401, code: 'challenge-expired' });
      const left = await client.query('SELECT FROM login_challenge WHERE challenge = $1', [
        challenge,
      ]);
      expect(left.rowCount).toBe(0);
    } finally {
      await client.end();
    }
  });
});

describe('with AUTH_REQUIRE_SERVER_CHALLENGE', () => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer({ env: { AUTH_REQUIRE_SERVER_CHALLENGE: 'true' } });
  }, 40_000);
  afterAll(() => server.stop());

  it('refuses a challenge of the client, for a new key and for a known one', async () => {
    const known = makeDeviceKey();
    expect((await post(server, loginBody(known, await issue(server)))).status).toBe(200);
    for (const key of [known, makeDeviceKey()]) {
      const answer = await post(server, loginBody(key));
      expect(refusalOf(answer)).toEqual({ status: 401, code: 'challenge-required' });
      expectErrorShape(answer);
    }
  });

  it('tells clients so', async () => {
    const { body } = await call(server, 'GET', '/v1/features');
    expect(body).toMatchObject({
      capabilities: { auth: { login: { serverChallenge: 'required' } } },
    });
    await expect(logIn(server)).rejects.toThrow('challenge-required');
  });

  it('takes its own challenge, once', async () => {
    const body = loginBody(makeDeviceKey(), await issue(server));
    expect((await post(server, body)).status).toBe(200);
    expect((await post(server, body)).body['code']).toBe('challenge-expired');
  });
});
