import { createPublicKey, verify } from 'node:crypto';
import { writeLoginChallenge } from '../../../core/protocol/login-challenge.js';
import { DeviceKey, type DeviceKeyJwk } from './device-key.js';
import { DeviceKeyError } from './key-text.js';
import { ChallengeRefused } from './login-challenge.js';

/** RFC 8032, 7.1, test 1. */
const SECRET = Buffer.from(
  '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
  'hex',
);
const PUBLIC = Buffer.from(
  'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
  'hex',
);

describe('a device key from its secret', () => {
  it.each(['base64', 'base64url'] as const)('restores the whole key, read as %s', async (form) => {
    const key = await DeviceKey.fromSecret(SECRET.toString(form));
    expect(key.publicKey).toBe(PUBLIC.toString('base64url'));
    expect(key.secret).toMatch(/^gatekey1/);
    expect(Buffer.from(key.bytes)).toEqual(SECRET);
    expect(key.toJwk().d).toBe(SECRET.toString('base64url'));
    expect(await DeviceKey.fromSecret(key.secret)).toMatchObject({ publicKey: key.publicKey });
    expect(await DeviceKey.fromSecret(key.bytes)).toMatchObject({ publicKey: key.publicKey });
    expect(await DeviceKey.fromJwk(key.toJwk())).toMatchObject({ publicKey: key.publicKey });
  });

  it('creates signatures that the public key verifies', async () => {
    const made = await DeviceKey.generate();
    const key = await DeviceKey.fromSecret(made.secret);
    const challenge = Buffer.from(
      writeLoginChallenge({
        origins: ['https://gate.example'],
        nonce: 'A'.repeat(43),
        expiresAt: Date.now() + 60_000,
      }),
    );
    const signed = await key.signChallenge(challenge.toString('base64'), 'https://gate.example/x');
    const signature = Buffer.from(signed, 'base64url');
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: made.publicKey };
    const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
    expect(verify(null, challenge, publicKey, signature)).toBe(true);
  });

  it('signs only a challenge of the server that it is used for', async () => {
    const key = await DeviceKey.generate();
    const relayed = writeLoginChallenge({
      origins: ['https://other.example'],
      nonce: 'A'.repeat(43),
      expiresAt: Date.now() + 60_000,
    });
    for (const text of ['any bytes', relayed]) {
      const challenge = Buffer.from(text).toString('base64');
      await expect(key.signChallenge(challenge, 'https://gate.example')).rejects.toThrow(
        ChallengeRefused,
      );
    }
  });

  it('refuses a key whose parts belong to two keys, or none', async () => {
    const [one, other] = [await DeviceKey.generate(), await DeviceKey.generate()];
    const mixed = { ...one.toJwk(), x: other.publicKey };
    await expect(DeviceKey.fromJwk(mixed)).rejects.toThrow(DeviceKeyError);
    await expect(DeviceKey.fromJwk({ ...mixed, d: 'AAAA' })).rejects.toThrow(DeviceKeyError);
    await expect(DeviceKey.fromSecret(new Uint8Array(31))).rejects.toThrow(DeviceKeyError);
    await expect(DeviceKey.fromSecret('no key')).rejects.toThrow(DeviceKeyError);
  });

  it.each([{ kty: 'EC' }, { crv: 'X25519' }, { d: '' }, { x: '' }])(
    'refuses a JWK with %j',
    async (change) => {
      const jwk = { ...(await DeviceKey.generate()).toJwk(), ...change };
      await expect(DeviceKey.fromJwk(jwk as DeviceKeyJwk)).rejects.toMatchObject({
        name: 'DeviceKeyError',
        reason: 'form',
      });
    },
  );

  it('is written as an Ed25519 JWK', async () => {
    const key = await DeviceKey.fromSecret(SECRET);
    expect(key.toJwk()).toEqual({
      ...{ kty: 'OKP', crv: 'Ed25519', x: PUBLIC.toString('base64url') },
      d: SECRET.toString('base64url'),
    });
  });

  it('keeps its secret when a caller changes the bytes that it gave or got', async () => {
    const given = Uint8Array.from(SECRET);
    const key = await DeviceKey.fromSecret(given);
    given.fill(0);
    key.bytes.fill(0);
    expect(Buffer.from(key.bytes)).toEqual(SECRET);
  });
});

describe('signLogin', () => {
  const SERVER = 'https://gate.example';

  it('signs the challenge of the server', async () => {
    const key = await DeviceKey.generate();
    const challenge = Buffer.from(
      writeLoginChallenge({
        ...{ origins: [SERVER], nonce: 'A'.repeat(43), expiresAt: Date.now() + 60_000 },
      }),
    ).toString('base64');
    for (const allowed of [false, true]) {
      expect(await key.signLogin(challenge, SERVER, allowed)).toEqual({
        ...{ publicKey: key.publicKey, challenge },
        signature: await key.signChallenge(challenge, SERVER),
      });
    }
  });

  it('signs 32 random bytes of its own only where the caller allows it', async () => {
    const key = await DeviceKey.generate();
    await expect(key.signLogin(null, SERVER, false)).rejects.toMatchObject({
      ...{ name: 'ChallengeRefused', reason: 'no-challenge', serverUrl: SERVER },
    });
    const signed = await key.signLogin(null, SERVER, true);
    const challenge = Buffer.from(signed.challenge, 'base64url');
    expect(challenge).toHaveLength(32);
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: signed.publicKey };
    const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
    const signature = Buffer.from(signed.signature, 'base64url');
    expect(signed.publicKey).toBe(key.publicKey);
    expect(verify(null, challenge, publicKey, signature)).toBe(true);
    expect((await key.signLogin(null, SERVER, true)).challenge).not.toBe(signed.challenge);
  });
});
