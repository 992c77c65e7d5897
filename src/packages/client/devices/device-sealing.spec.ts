import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { handoverWords } from '../../../core/protocol/device-words.js';
import { DeviceKey } from '../crypto/device-key.js';
import {
  DEVICE_SUITE,
  DeviceSealError,
  makeDeviceSecrets,
  openApproval,
  sealAccount,
  type DeviceSecrets,
  type HandedAccount,
} from './device-sealing.js';

interface Vectors {
  readonly info: string;
  readonly ikmE: string;
  readonly ikmR: string;
  readonly pkRm: string;
  readonly skRm: string;
  readonly psk?: string;
  readonly pskId?: string;
  readonly enc: string;
  readonly pt: string;
  readonly encryptions: readonly { sequence: number; aad: string; ct: string }[];
  readonly exports: readonly { context: string; value: string }[];
}

const vectorsOf = (name: string): unknown =>
  JSON.parse(
    readFileSync(new URL(`../../../../test/vectors/${name}.json`, import.meta.url), 'utf8'),
  );
const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
const hex = (of: Uint8Array): string => Buffer.from(of).toString('hex');

describe.each([
  ['A.2.1', 'hpke-rfc9180-a2-base'],
  ['A.2.2', 'hpke-rfc9180-a2-psk'],
])('the suite, by the vectors of RFC 9180, %s', (_section, name) => {
  const vectors = vectorsOf(name) as Vectors;
  const { psk, pskId } = vectors;
  const withKey = psk !== undefined && pskId !== undefined;
  const options = {
    info: bytes(vectors.info),
    ...(withKey && { psk: bytes(psk), pskId: bytes(pskId) }),
  };

  it('derives the key pair of the recipient', async () => {
    const pair = await DEVICE_SUITE.DeriveKeyPair(bytes(vectors.ikmR), true);
    expect(hex(await DEVICE_SUITE.SerializePublicKey(pair.publicKey))).toBe(vectors.pkRm);
  });

  it('opens every encryption of the sequence, and exports', async () => {
    const key = await DEVICE_SUITE.DeserializePrivateKey(bytes(vectors.skRm), false);
    const recipient = await DEVICE_SUITE.SetupRecipient(key, bytes(vectors.enc), options);
    const publicKey = await DEVICE_SUITE.DeserializePublicKey(bytes(vectors.pkRm));
    const sender = await fromTheRandomOf(vectors.ikmE, () =>
      DEVICE_SUITE.SetupSender(publicKey, options),
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

const ORIGINS = ['https://gate.example', 'http://gate.svc:3000'];
const ACCOUNT_ID = '409b4c50-6f1e-4a3a-9a44-2f0f3a5a8a11';
const KEYLESS: HandedAccount = {
  ...{ accountId: ACCOUNT_ID, encryptionMode: 'plain', key: null, settings: null },
};
const settings = { rev: 7, hash: 'A'.repeat(43) };

let device: DeviceSecrets;
let keyed: HandedAccount;

beforeAll(async () => {
  device = await makeDeviceSecrets();
  const key = await DeviceKey.generate();
  keyed = { accountId: ACCOUNT_ID, encryptionMode: 'e2ee', key, settings };
});

const identity = () => ({ publicKey: device.publicKey, origins: ORIGINS });
const open = (sealed: string | null | undefined, more: object = {}, origins = ORIGINS) =>
  openApproval({ ...device, ...more }, origins, { accountId: ACCOUNT_ID, sealed });

/** The reason of a refusal. */
async function reasonOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => 'opened',
    (reason: unknown) => reason,
  );
  return error instanceof DeviceSealError ? error.reason : String(error);
}

describe('an account that is sealed to a link', () => {
  const seal = async (account: HandedAccount) =>
    (await sealAccount(identity(), account, device.linkSecret)).sealed;

  it('opens on the device of the link, and shows no words', async () => {
    for (const account of [keyed, KEYLESS]) {
      const { sealed, words } = await sealAccount(identity(), account, device.linkSecret);
      expect(words).toBeNull();
      expect(Buffer.from(sealed, 'base64url').length).toBeLessThanOrEqual(1024);
      const opened = await open(sealed);
      expect(opened).toMatchObject({ via: 'link', account: { accountId: ACCOUNT_ID } });
      const { account: read } = opened as { readonly account: HandedAccount };
      expect(read.key?.secret).toBe(account.key?.secret);
      expect({ ...read, key: null }).toEqual({ ...account, key: null });
    }
    expect(await seal(keyed)).not.toBe(await seal(keyed));
  });

  it('opens with no other secret, key or origins', async () => {
    const sealed = await seal(keyed);
    const { privateKey, linkSecret } = await makeDeviceSecrets();
    expect(await reasonOf(open(sealed, { linkSecret }))).toBe('not-for-this-device');
    expect(await reasonOf(open(sealed, { privateKey }))).toBe('not-for-this-device');
    for (const origins of [[], ['https://evil.example'], [...ORIGINS].reverse()]) {
      expect(await reasonOf(open(sealed, {}, origins))).toBe('not-for-this-device');
    }
  });

  it.each(['', 'AAAA', Buffer.alloc(31).toString('base64url'), 'A'.repeat(44), '!'.repeat(43)])(
    'is neither sealed nor opened with the secret %j, instead of without any',
    async (linkSecret) => {
      const sealing = sealAccount(identity(), keyed, linkSecret);
      expect(await reasonOf(sealing)).toBe('invalid-link');
      expect(await reasonOf(open(await seal(keyed), { linkSecret }))).toBe('invalid-link');
    },
  );

  it('uses the documented info, key and id', async () => {
    const raw = Buffer.from(await seal(KEYLESS), 'base64url');
    const key = await DEVICE_SUITE.DeserializePrivateKey(
      Uint8Array.from(Buffer.from(device.privateKey, 'base64url')),
      false,
    );
    const [enc, ct] = [Uint8Array.from(raw.subarray(0, 32)), Uint8Array.from(raw.subarray(32))];
    const info = Buffer.from(`gatehouse device v2 link\n${ORIGINS.join(' ')}`);
    const psk = Uint8Array.from(Buffer.from(device.linkSecret, 'base64url'));
    const pskId = Buffer.from('gatehouse device v2');
    const opened = await DEVICE_SUITE.Open(key, enc, ct, { info, psk, pskId });
    expect(JSON.parse(Buffer.from(opened).toString())).toEqual({
      ...{ v: 2, accountId: ACCOUNT_ID, keyMode: 'keyless', encryptionMode: 'plain' },
      nonce: expect.stringMatching(/^[\w-]{43}$/) as unknown,
    });
    await expect(DEVICE_SUITE.Open(key, enc, ct, { info })).rejects.toThrow();
  });
});

describe('an account that is sealed to a typed code', () => {
  const seal = (account: HandedAccount) => sealAccount(identity(), account, null);

  it('opens for the first three words, at the first try only', async () => {
    const { sealed, words } = await seal(keyed);
    expect(words).toHaveLength(5);
    const typed = words!.slice(0, 3).join(' ').toUpperCase();
    const opened = await open(sealed);
    const { confirm } = opened as Extract<typeof opened, { via: 'code' }>;
    expect(opened).toEqual({ via: 'code', confirm: expect.any(Function) as unknown });
    expect(confirm(typed)).toMatchObject({ accountId: ACCOUNT_ID, settings });
    expect(() => confirm(typed)).toThrow(DeviceSealError);
    const again = (await open(sealed)) as typeof opened & { via: 'code' };
    expect(() => again.confirm('abandon ability able')).toThrow('not the words');
    expect(() => again.confirm(typed)).toThrow('not the words');
  });

  it('has words that a server cannot know, because it does not know the nonce', async () => {
    const all = await Promise.all(
      [keyed, keyed, KEYLESS].map(async (one) => (await seal(one)).words),
    );
    expect(new Set(all.map((words) => words?.join(' '))).size).toBe(3);
  });

  it('does not open as one of a link, and with no other origins', async () => {
    const { sealed } = await seal(keyed);
    expect(await open(sealed)).toMatchObject({ via: 'code' });
    expect(await reasonOf(open(sealed, {}, []))).toBe('not-for-this-device');
  });
});

describe('an approval that a server changed', () => {
  it('is refused without the account, or with another one', async () => {
    for (const sealed of [undefined, null, '', '!', 'AAAA', 'A'.repeat(63), 'A'.repeat(2000)]) {
      expect(await reasonOf(open(sealed))).toBe('not-for-this-device');
    }
    for (const secret of [device.linkSecret, null]) {
      const { sealed } = await sealAccount(identity(), keyed, secret);
      const swapped = openApproval(device, ORIGINS, { accountId: 'another', sealed });
      expect(await reasonOf(swapped)).toBe('other-account');
    }
  });

  it('is refused when any byte of it was changed', async () => {
    const { sealed } = await sealAccount(identity(), keyed, device.linkSecret);
    const raw = Buffer.from(sealed, 'base64url');
    for (let index = 0; index < raw.length; index += 7) {
      const changed = Buffer.from(raw);
      changed[index]! ^= 1;
      expect(await reasonOf(open(changed.toString('base64url')))).toBe('not-for-this-device');
    }
  });

  it('is of an older device where it has the length of version 1', async () => {
    const older = randomBytes(80).toString('base64url');
    expect(await reasonOf(open(older))).toBe('older-approver');
  });

  it('asks for words where the server sealed an account of its own, and opens for none of its words', async () => {
    const own = { ...keyed, key: await DeviceKey.generate() };
    const { sealed, words } = await sealAccount(identity(), own, null);
    const honest = await sealAccount(identity(), keyed, null);
    const opened = (await open(sealed)) as { readonly confirm: (typed: string) => unknown };
    expect(words).not.toEqual(honest.words);
    expect(() => opened.confirm(honest.words!.slice(0, 3).join(' '))).toThrow('not the words');
  });

  it.each<[string, object]>([
    ['another version', { v: 1 }],
    ['no account', { accountId: 7 }],
    ['a key mode that does not exist', { keyMode: 'other' }],
    ['a key of a keyless account', { secret: Buffer.alloc(32).toString('base64url') }],
    ['no key of a keyed account', { keyMode: 'keyed' }],
    ['no mode', { encryptionMode: null }],
    ['no nonce', { nonce: 'AAAA' }],
    ['damaged settings', { settings: { rev: 'x' } }],
  ])('is refused with %s', async (_what, change) => {
    const nonce = Buffer.alloc(32).toString('base64url');
    const account = {
      ...{ v: 2, accountId: ACCOUNT_ID, keyMode: 'keyless', encryptionMode: 'plain', nonce },
      ...change,
    };
    const info = Buffer.from(`gatehouse device v2 code\n${ORIGINS.join(' ')}`);
    const key = await DEVICE_SUITE.DeserializePublicKey(
      Uint8Array.from(Buffer.from(device.publicKey, 'base64url')),
    );
    const text = Buffer.from(JSON.stringify(account));
    const { encapsulatedSecret, ciphertext } = await DEVICE_SUITE.Seal(key, text, { info });
    const sealed = Buffer.concat([encapsulatedSecret, ciphertext]).toString('base64url');
    expect(await reasonOf(open(sealed))).toBe('not-for-this-device');
  });
});

describe('a key of a new device', () => {
  it.each(['', '!', 'AAAA', Buffer.alloc(31).toString('base64url')])(
    'is refused as %j',
    async (publicKey) => {
      const sealing = sealAccount({ publicKey, origins: [] }, keyed, null);
      expect(await reasonOf(sealing)).toBe('invalid-key');
    },
  );

  it.each([
    // Anyone can open a text sealed to these points of small order (RFC 9180, 7.1.4).
    Buffer.alloc(32).toString('base64url'),
    Buffer.from([1, ...Array<number>(31).fill(0)]).toString('base64url'),
    Buffer.from('ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f', 'hex').toString(
      'base64url',
    ),
  ])('is refused as the point %s', async (publicKey) => {
    const sealing = sealAccount({ publicKey, origins: [] }, keyed, null);
    expect(await reasonOf(sealing)).toBe('invalid-key');
  });
});

interface DeviceVectors extends Omit<DeviceSecrets, 'proof' | 'proofHash'> {
  readonly accountKey: string;
  readonly approvals: readonly {
    readonly via: 'link' | 'code';
    readonly origins: readonly string[];
    readonly plaintext: string;
    readonly sealed: string;
    readonly words?: readonly string[];
  }[];
}

describe('the vectors of another implementation', () => {
  const { approvals, accountKey, ...secrets } = vectorsOf('device-sealing') as DeviceVectors;

  it.each(approvals)('opens the approval by $via of $plaintext', async (vector) => {
    const { via, origins, plaintext, sealed, words } = vector;
    const facts = JSON.parse(plaintext) as Parameters<typeof handoverWords>[1] & {
      readonly secret?: string;
    };
    const { accountId, encryptionMode } = facts;
    const opened = await openApproval(secrets, origins, { accountId, sealed });
    expect(opened.via).toBe(via);
    const typed = words?.slice(0, 3).join(' ') ?? '';
    const account = opened.via === 'link' ? opened.account : opened.confirm(typed);
    expect(account).toMatchObject({ accountId, encryptionMode });
    expect(account.key?.toJwk().d).toBe(facts.secret);
    const known = { ...facts, accountKey: facts.keyMode === 'keyed' ? accountKey : null };
    const own = handoverWords({ publicKey: secrets.publicKey, origins }, known);
    expect(words ?? own).toEqual(own);
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
