import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  DEVICE_SUITE,
  DeviceSealError,
  makeDeviceSecrets,
  openSealedSecret,
  sealForDevice,
} from './device-sealing.js';

interface Vectors {
  readonly info: string;
  readonly ikmE: string;
  readonly ikmR: string;
  readonly pkRm: string;
  readonly skRm: string;
  readonly enc: string;
  readonly pt: string;
  readonly encryptions: readonly { sequence: number; aad: string; ct: string }[];
  readonly exports: readonly { context: string; value: string }[];
}

const file = new URL('../../../test/vectors/hpke-rfc9180-a2-base.json', import.meta.url);
const vectors = JSON.parse(readFileSync(file, 'utf8')) as Vectors;
const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
const hex = (of: Uint8Array): string => Buffer.from(of).toString('hex');

describe('the suite, by the vectors of RFC 9180, A.2.1', () => {
  const info = bytes(vectors.info);

  it('derives the key pair of the recipient', async () => {
    const pair = await DEVICE_SUITE.DeriveKeyPair(bytes(vectors.ikmR), true);
    expect(hex(await DEVICE_SUITE.SerializePublicKey(pair.publicKey))).toBe(vectors.pkRm);
  });

  it('opens every encryption of the sequence, and exports', async () => {
    const key = await DEVICE_SUITE.DeserializePrivateKey(bytes(vectors.skRm), false);
    const recipient = await DEVICE_SUITE.SetupRecipient(key, bytes(vectors.enc), { info });
    const sender = await fromTheRandomOf(vectors.ikmE, async () =>
      DEVICE_SUITE.SetupSender(await DEVICE_SUITE.DeserializePublicKey(bytes(vectors.pkRm)), {
        info,
      }),
    );
    expect(hex(sender.encapsulatedSecret)).toBe(vectors.enc);
    for (let sequence = 0; sequence <= 256; sequence += 1) {
      const aad = new TextEncoder().encode(`Count-${sequence}`);
      const sealed = await sender.ctx.Seal(bytes(vectors.pt), Uint8Array.from(aad));
      const known = vectors.encryptions.find((one) => one.sequence === sequence);
      if (known !== undefined) {
        expect({ sequence, aad: hex(aad), ct: hex(sealed) }).toEqual(known);
      }
      expect(hex(await recipient.Open(sealed, Uint8Array.from(aad)))).toBe(vectors.pt);
    }
    for (const { context, value } of vectors.exports) {
      expect(hex(await recipient.Export(bytes(context), 32))).toBe(value);
    }
  });
});

/** The reason and the message of a refusal, and true if another error caused it. */
async function refusalOf(work: Promise<unknown>): Promise<[string, string, boolean]> {
  const error: unknown = await work.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(DeviceSealError);
  const { reason, message, cause } = error as DeviceSealError;
  return [reason, message, cause !== undefined];
}

const NO_KEY = ['invalid-key', 'This is no key of a device.'];
const NOT_OURS = ['not-for-this-device', 'The account was not sealed to this device.'];

describe('a secret that is sealed to a device', () => {
  const secret = Uint8Array.from(randomBytes(32));

  it('is opened by that device, and has 80 bytes for a secret of 32', async () => {
    const device = await makeDeviceSecrets();
    const sealed = await sealForDevice(device.publicKey, secret);
    expect(sealed).toMatch(/^[\w-]{107}$/);
    expect(await openSealedSecret(device, sealed)).toEqual(secret);
    expect(await sealForDevice(device.publicKey, secret)).not.toBe(sealed);
  });

  it('uses the documented info string and empty associated data', async () => {
    const device = await makeDeviceSecrets();
    const raw = Buffer.from(await sealForDevice(device.publicKey, secret), 'base64url');
    const key = await DEVICE_SUITE.DeserializePrivateKey(
      Uint8Array.from(Buffer.from(device.privateKey, 'base64url')),
      false,
    );
    const info = Uint8Array.from(Buffer.from('gatehouse device v1'));
    const [enc, ct] = [Uint8Array.from(raw.subarray(0, 32)), Uint8Array.from(raw.subarray(32))];
    expect(await DEVICE_SUITE.Open(key, enc, ct, { info })).toEqual(secret);
    await expect(DEVICE_SUITE.Open(key, enc, ct)).rejects.toThrow();
  });

  it('is opened by no other device', async () => {
    const [device, other] = [await makeDeviceSecrets(), await makeDeviceSecrets()];
    const sealed = await sealForDevice(device.publicKey, secret);
    expect(await refusalOf(openSealedSecret(other, sealed))).toEqual([...NOT_OURS, true]);
  });

  it('is refused when any byte of it was changed', async () => {
    const device = await makeDeviceSecrets();
    const sealed = Buffer.from(await sealForDevice(device.publicKey, secret), 'base64url');
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Buffer.from(sealed);
      changed[index]! ^= 1;
      const opened = openSealedSecret(device, changed.toString('base64url'));
      await expect(opened).rejects.toBeInstanceOf(DeviceSealError);
    }
  });

  it.each(['', '!', 'AAAA', 'A'.repeat(22), 'A'.repeat(63), 'A'.repeat(2000)])(
    'is refused as %j',
    async (sealed) => {
      const device = await makeDeviceSecrets();
      expect(await refusalOf(openSealedSecret(device, sealed))).toEqual([...NOT_OURS, false]);
    },
  );

  it('is not opened with a text that is no key', async () => {
    const { publicKey } = await makeDeviceSecrets();
    const sealed = await sealForDevice(publicKey, secret);
    const opened = openSealedSecret({ privateKey: 'AAAA' }, sealed);
    expect(await refusalOf(opened)).toEqual([...NOT_OURS, false]);
  });

  it.each(['', '!', 'AAAA', Buffer.alloc(31).toString('base64url')])(
    'is not sealed to %j, which is no key',
    async (publicKey) => {
      expect(await refusalOf(sealForDevice(publicKey, secret))).toEqual([...NO_KEY, false]);
    },
  );

  it.each([
    // Anyone can open a text sealed to these points of small order (RFC 9180, 7.1.4).
    Buffer.alloc(32).toString('base64url'),
    Buffer.from([1, ...Array<number>(31).fill(0)]).toString('base64url'),
    Buffer.from('ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f', 'hex').toString(
      'base64url',
    ),
  ])('is not sealed to the point %s', async (publicKey) => {
    expect(await refusalOf(sealForDevice(publicKey, secret))).toEqual([...NO_KEY, true]);
  });
});

async function fromTheRandomOf<Result>(ikm: string, work: () => Promise<Result>): Promise<Result> {
  const platform = crypto.getRandomValues.bind(crypto);
  // Other lengths are for blinding, which changes no result.
  const random = (into: Uint8Array<ArrayBuffer>): Uint8Array => {
    if (into.length !== ikm.length / 2) {
      return platform(into);
    }
    into.set(bytes(ikm));
    return into;
  };
  Object.defineProperty(crypto, 'getRandomValues', { value: random, configurable: true });
  try {
    return await work();
  } finally {
    Reflect.deleteProperty(crypto, 'getRandomValues');
  }
}
