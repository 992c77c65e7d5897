import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { call, expectErrorShape, logIn, type Login, refusalOf } from '../helpers/client.js';
import { IS_POSTGRES, type Server, startServer } from '../helpers/server.js';

const TEN_MINUTES_MS = 600_000;

interface State {
  readonly state: string;
  readonly expiresAt?: number;
  readonly token?: string;
  readonly response?: string;
}

let server: Server;
let login: Login;

beforeAll(async () => {
  server = await startServer();
  login = await logIn(server);
});

afterAll(() => server.stop());

function throwAwayKey(): string {
  const { x } = generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' });
  return Buffer.from(x ?? '', 'base64url').toString('base64');
}

const ask = (publicKey: unknown) =>
  call<State>(server, 'POST', '/v1/auth/account/request', { body: { publicKey } });

const respond = (publicKey: unknown, response: unknown, token: string | undefined = login.token) =>
  call(server, 'POST', '/v1/auth/account/response', { token, body: { publicKey, response } });

describe('adding a device', () => {
  it('hands the account to the new device, once', async () => {
    const key = throwAwayKey();
    const before = Date.now();
    const asked = await ask(key);
    expect(asked.body).toEqual({ state: 'requested', expiresAt: expect.any(Number) });
    expect(asked.body.expiresAt).toBeGreaterThanOrEqual(before + TEN_MINUTES_MS);
    expect(asked.body.expiresAt).toBeLessThanOrEqual(Date.now() + TEN_MINUTES_MS);
    expect((await ask(key)).body).toEqual(asked.body);

    expect((await respond(key, 'sealed')).body).toEqual({ success: true });
    const { body } = await ask(key);
    expect(body).toEqual({
      state: 'authorized',
      token: expect.any(String),
      response: 'sealed',
    });
    const profile = await call(server, 'GET', '/v1/account/profile', { token: body.token });
    expect(profile.body['id']).toBe(login.accountId);
    expect(body.token).not.toBe(login.token);
    expect((await ask(key)).body.state).toBe('requested');
  });

  it('is authorized for exactly one of 50 who ask at once', async () => {
    const key = throwAwayKey();
    await ask(key);
    await respond(key, 'sealed');
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask(key)));
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
    expect(answers.filter(({ body }) => body.state === 'authorized')).toHaveLength(1);
  });

  it('takes exactly one of 20 answers at once', async () => {
    const key = throwAwayKey();
    await ask(key);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_value, index) => respond(key, `sealed-${index}`)),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 404)).toHaveLength(19);
    const { body } = await ask(key);
    expect(body.response).toBe(`sealed-${statuses.indexOf(200)}`);
  });

  it('makes one request of 50 first ones of a key at once', async () => {
    const key = throwAwayKey();
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask(key)));
    expect(answers.map(({ body }) => body.state)).toEqual(Array(50).fill('requested'));
    expect(new Set(answers.map(({ body }) => body.expiresAt)).size).toBe(1);
  });

  it('knows the key in every spelling of base64', async () => {
    const raw = Buffer.concat([Buffer.from('fbefbe', 'hex'), randomBytes(29)]);
    await ask(raw.toString('base64'));
    expect((await respond(raw.toString('base64url'), 'sealed')).status).toBe(200);
    expect((await ask(raw.toString('base64').replace('=', ''))).body.state).toBe('authorized');
  });

  it('answers 404 where nobody asked, or somebody has answered', async () => {
    const key = throwAwayKey();
    const unknown = await respond(key, 'sealed');
    expect(refusalOf(unknown)).toEqual({ status: 404, code: 'not-found' });
    expectErrorShape(unknown);
    await ask(key);
    await respond(key, 'sealed');
    expect((await respond(key, 'again')).status).toBe(404);
  });

  it('needs a token to answer, and none to ask', async () => {
    const key = throwAwayKey();
    await ask(key);
    const body = { publicKey: key, response: 'sealed' };
    const answer = await call(server, 'POST', '/v1/auth/account/response', { body });
    expect(refusalOf(answer)).toEqual({ status: 401, code: 'missing-token' });
    expect((await ask(key)).body.state).toBe('requested');
  });

  it.each([
    '',
    'AAAA',
    '!',
    randomBytes(31).toString('base64'),
    randomBytes(33).toString('base64'),
  ])('refuses the key %j', async (key) => {
    for (const answer of [
      await call(server, 'POST', '/v1/auth/account/request', { body: { publicKey: key } }),
      await respond(key, 'sealed'),
    ]) {
      expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-public-key' });
      expectErrorShape(answer);
    }
  });

  it.each([null, 7, [], {}, 'A'.repeat(65)])('refuses %j as a key', async (key) => {
    const answer = await call(server, 'POST', '/v1/auth/account/request', {
      body: { publicKey: key },
    });
    expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-request' });
  });

  it('relays up to 16 KiB and nothing else than text', async () => {
    const key = throwAwayKey();
    await ask(key);
    for (const response of ['', 'A'.repeat(16_385), null, 7, {}, 'a\u0000b', '\ud800']) {
      const answer = await respond(key, response);
      expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-request' });
    }
    const largest = 'A'.repeat(16_384);
    expect((await respond(key, largest)).status).toBe(200);
    expect((await ask(key)).body.response).toBe(largest);
  });
});

const withSql = IS_POSTGRES ? describe : describe.skip;
withSql('after ten minutes, or a fault (needs SQL: PostgreSQL only)', () => {
  let client: Client;
  beforeAll(async () => {
    client = new Client({ connectionString: server.databaseUrl ?? '' });
    await client.connect();
  });
  afterAll(() => client.end());

  const age = (key: string) =>
    client.query(`UPDATE device_request SET expires_at = now() WHERE public_key = $1`, [
      Buffer.from(key, 'base64'),
    ]);

  it('an answer is kept that a fault of the database kept from the new device', async () => {
    const key = throwAwayKey();
    await ask(key);
    expect((await respond(key, 'sealed')).status).toBe(200);
    await client.query('BEGIN');
    await client.query('LOCK TABLE account IN ACCESS EXCLUSIVE MODE');
    const fault = await ask(key);
    await client.query('ROLLBACK');
    expect(fault.status).toBe(503);
    expect((await ask(key)).body).toMatchObject({ state: 'authorized', response: 'sealed' });
  });

  it('nobody can answer the request', async () => {
    const key = throwAwayKey();
    await ask(key);
    await age(key);
    expect(refusalOf(await respond(key, 'sealed'))).toEqual({ status: 404, code: 'not-found' });
  });

  it('an answer that was not fetched is gone, and the request is a new one', async () => {
    const key = throwAwayKey();
    await ask(key);
    await respond(key, 'sealed');
    await age(key);
    const { body } = await ask(key);
    expect(body).toEqual({ state: 'requested', expiresAt: expect.any(Number) });
    expect(body.expiresAt).toBeGreaterThan(Date.now() + TEN_MINUTES_MS - 5000);
    expect((await ask(key)).body.state).toBe('requested');
    expect((await respond(key, 'new')).status).toBe(200);
  });
});
