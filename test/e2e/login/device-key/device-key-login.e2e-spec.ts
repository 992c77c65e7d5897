import { createHash, randomBytes } from 'node:crypto';
import {
  call,
  expectErrorShape,
  type Json,
  type Login,
  logIn,
  loginBody,
  makeDeviceKey,
  refusalOf,
} from '../../../helpers/client.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';

/** One of low order, and one that is another spelling of a point. */
const REFUSED_KEYS = ['00'.repeat(32), `ed${'ff'.repeat(30)}7f`];
const GROUP_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

// The server accepts any bytes, because these tests are about the format of keys, challenges and
// signatures.
const server = await startServer({ env: { AUTH_REQUIRE_SERVER_CHALLENGE: 'false' } });

afterAll(() => server.stop());

const post = (body: unknown) => call(server, 'POST', '/v1/auth', { body });

async function refuses(body: unknown, status: number, code: string): Promise<void> {
  const answer = await post(body);
  expect(refusalOf(answer)).toEqual({ status, code });
  expectErrorShape(answer);
}

describe('device-key login', () => {
  it('creates an account at the first login of a key and finds it again at the second', async () => {
    const key = makeDeviceKey();
    const first = await logIn(server, key);
    const second = await logIn(server, key);
    expect(first).toEqual({
      success: true,
      token: expect.any(String),
      accountId: expect.any(String),
      created: true,
    });
    expect(second).toMatchObject({ accountId: first.accountId, created: false });
    expect(second.token).not.toBe(first.token);
  });

  it('accepts all four base64 encodings of one key', async () => {
    const key = makeDeviceKey();
    const { accountId } = await logIn(server, key);
    // Three bytes of ones produce characters in which both alphabets differ.
    const challenge = Buffer.concat([Buffer.from('ffefbe', 'hex'), randomBytes(2)]);
    const spell = (bytes: Buffer): string[] => [
      bytes.toString('base64'),
      bytes.toString('base64').replaceAll('=', ''),
      bytes.toString('base64url'),
      bytes.toString('base64').replaceAll('+', '-').replaceAll('/', '_'),
    ];
    const signature = spell(key.sign(challenge));
    const keys = spell(key.raw);
    for (const [index, spelled] of spell(challenge).entries()) {
      const { status, body } = await post({
        publicKey: keys[index],
        challenge: spelled,
        signature: signature[index],
      });
      expect({ status, accountId: body['accountId'] }).toEqual({ status: 200, accountId });
    }
  });

  it('ignores unknown fields', async () => {
    const { status } = await post({ ...loginBody(makeDeviceKey()), admin: true, x: { y: [] } });
    expect(status).toBe(200);
  });

  it.each([1, 1024])('accepts a challenge of %i bytes', async (size) => {
    const { status } = await post(loginBody(makeDeviceKey(), randomBytes(size)));
    expect(status).toBe(200);
  });

  it.each([0, 1025, 5000])('refuses a challenge of %i bytes', async (size) => {
    await refuses(loginBody(makeDeviceKey(), randomBytes(size)), 400, 'invalid-request');
  });

  it.each(REFUSED_KEYS)('refuses the key %s', async (hex) => {
    const publicKey = Buffer.from(hex, 'hex').toString('base64');
    // R = the neutral point and S = 0 verify under a low-order key in a lax implementation.
    const signature = Buffer.concat([Buffer.from([1]), Buffer.alloc(63)]).toString('base64');
    await refuses({ publicKey, challenge: 'AAAA', signature }, 400, 'invalid-public-key');
  });

  it.each([0, 31])('refuses a key of %i bytes', async (size) => {
    const body = { ...loginBody(makeDeviceKey()), publicKey: randomBytes(size).toString('base64') };
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(['invalid-public-key', 'invalid-request']).toContain(answer.body['code']);
    expectErrorShape(answer);
  });

  it.each([0, 65])('refuses a signature of %i bytes', async (size) => {
    const body = { ...loginBody(makeDeviceKey()), signature: randomBytes(size).toString('base64') };
    await refuses(body, 401, 'invalid-signature');
  });

  it('refuses the signature of another key, of another challenge, and with one bit changed', async () => {
    const key = makeDeviceKey();
    const challenge = randomBytes(32);
    const body = loginBody(key, challenge);
    const flipped = key.sign(challenge);
    flipped.writeUInt8(flipped.readUInt8(5) ^ 1, 5);
    const forged = [
      { ...body, signature: makeDeviceKey().sign(challenge).toString('base64') },
      { ...body, signature: key.sign(randomBytes(32)).toString('base64') },
      { ...body, signature: flipped.toString('base64') },
    ];
    for (const attempt of forged) {
      await refuses(attempt, 401, 'invalid-signature');
    }
  });

  it('refuses S + L, which verifies in a lax implementation', async () => {
    const key = makeDeviceKey();
    const challenge = randomBytes(32);
    const signature = key.sign(challenge);
    const s = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`);
    const malleable = Buffer.from(
      (s + GROUP_ORDER).toString(16).padStart(64, '0'),
      'hex',
    ).reverse();
    const body = {
      ...loginBody(key, challenge),
      signature: Buffer.concat([signature.subarray(0, 32), malleable]).toString('base64'),
    };
    await refuses(body, 401, 'invalid-signature');
  });

  it('refuses a key that is no point of the curve, without a fault', async () => {
    const raw = createHash('sha256').update('not a point 2').digest();
    for (let high = 0; high < 8; high += 1) {
      raw.writeUInt8(high, 0);
      const body = { ...loginBody(makeDeviceKey()), publicKey: raw.toString('base64') };
      const answer = await post(body);
      expect([400, 401]).toContain(answer.status);
    }
  });

  it.each<[string, Json]>([
    ['no publicKey', { publicKey: undefined }],
    ['a number', { challenge: 7 }],
    ['null', { signature: null }],
    ['an array', { publicKey: ['AAAA'] }],
    ['an object', { challenge: { toString: 'x' } }],
    ['a huge text', { signature: 'A'.repeat(20_000) }],
  ])('names the invalid field: %s', async (_name, change) => {
    const answer = await post({ ...loginBody(makeDeviceKey()), ...change });
    expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-request' });
    const [path] = Object.keys(change);
    expect(answer.body['details']).toEqual([{ path, message: expect.any(String) }]);
  });

  it.each([' ', 'A+_A'])('refuses %j as base64', async (text) => {
    const key = makeDeviceKey();
    const body = { ...loginBody(key), challenge: text };
    const answer = await post(body);
    expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-request' });
  });

  it('creates one account for 50 simultaneous first logins of one key, and all succeed', async () => {
    const key = makeDeviceKey();
    const logins = await Promise.all(
      Array.from({ length: 50 }, () =>
        call<Login>(server, 'POST', '/v1/auth', { body: loginBody(key) }),
      ),
    );
    expect(logins.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
    expect(new Set(logins.map(({ body }) => body.accountId)).size).toBe(1);
    expect(logins.filter(({ body }) => body.created)).toHaveLength(1);
    expect(new Set(logins.map(({ body }) => body.token)).size).toBe(50);
  });
});
