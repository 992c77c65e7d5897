import { createHash, randomBytes } from 'node:crypto';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { deviceKeyWords, handoverWords, isTypedWords } from './device-words.js';

const ORIGINS = ['https://gate.example', 'http://gate.svc:3000'];

function wordsOf(...lines: readonly string[]): readonly (string | undefined)[] {
  const hash = createHash('sha256').update(lines.join('\n')).digest('hex');
  const bits = BigInt(`0x${hash}`).toString(2).padStart(256, '0');
  const indexes = [0, 11, 22, 33, 44].map((at) => parseInt(bits.slice(at, at + 11), 2));
  return indexes.map((index) => wordlist[index]);
}

const keyOf = () => randomBytes(32).toString('base64url');

describe(deviceKeyWords, () => {
  it('encodes the first 55 bits of the hash of the key and of the origins', () => {
    for (let round = 0; round < 200; round += 1) {
      const publicKey = keyOf();
      const expected = wordsOf('gatehouse device v2', ORIGINS.join(' '), publicKey);
      expect(deviceKeyWords({ publicKey, origins: ORIGINS })).toEqual(expected);
      const standard = Buffer.from(publicKey, 'base64url').toString('base64');
      expect(deviceKeyWords({ publicKey: standard, origins: ORIGINS })).toEqual(expected);
    }
  });

  it('differs where another server names its own origins', () => {
    const publicKey = keyOf();
    const lists = [[], ['https://evil.example'], ORIGINS, ORIGINS.slice(1)];
    const words = lists.map((origins) => deviceKeyWords({ publicKey, origins }).join(' '));
    expect(new Set(words).size).toBe(lists.length);
  });

  it('refuses text that is not a key of 32 bytes', () => {
    expect(() => deviceKeyWords({ publicKey: 'AAAA', origins: [] })).toThrow(TypeError);
  });
});

describe(handoverWords, () => {
  const device = { publicKey: keyOf(), origins: ORIGINS };
  const account = {
    accountId: 'account',
    keyMode: 'keyed',
    encryptionMode: 'e2ee',
    accountKey: keyOf(),
    nonce: keyOf(),
  } as const;

  it('encodes the device and all facts of the account', () => {
    const { accountId, keyMode, encryptionMode, accountKey, nonce } = account;
    const begin = ['gatehouse device v2', ORIGINS.join(' '), device.publicKey, accountId];
    expect(handoverWords(device, account)).toEqual(
      wordsOf(...begin, keyMode, encryptionMode, accountKey, nonce),
    );
    const keyless = { ...account, accountKey: null };
    expect(handoverWords(device, keyless)).toEqual(
      wordsOf(...begin, keyMode, encryptionMode, '', nonce),
    );
  });

  it('differs where any fact differs', () => {
    const others = [
      { accountId: 'other' },
      { keyMode: 'keyless' },
      { encryptionMode: 'plain' },
      { accountKey: keyOf() },
      { accountKey: null },
      { nonce: keyOf() },
    ] as const;
    const words = others.map((one) => handoverWords(device, { ...account, ...one }).join(' '));
    const elsewhere = handoverWords({ ...device, origins: [] }, account).join(' ');
    expect(new Set([handoverWords(device, account).join(' '), elsewhere, ...words]).size).toBe(8);
  });

  it('refuses an id that could pass for two parts', () => {
    expect(() => handoverWords(device, { ...account, accountId: 'a\nb' })).toThrow(TypeError);
  });
});

describe(isTypedWords, () => {
  const words = ['grid', 'duck', 'problem', 'valid', 'cloth'];

  it.each([
    ...['grid duck problem', '  Grid\tDUCK   problem \n'],
    ...['grid duck problem valid', words.join(' ')],
  ])('accepts %j', (typed) => {
    expect(isTypedWords(words, typed)).toBe(true);
  });

  it.each([
    ...['', 'grid', 'grid duck', 'grid duck valid', 'duck grid problem', 'gridduckproblem'],
    ...['grid duck problem cloth', 'grid duck problem valid cloth cloth'],
    ...['grid duck problem valid problem', 'grid, duck, problem', 'yes'],
  ])('refuses %j', (typed) => {
    expect(isTypedWords(words, typed)).toBe(false);
  });
});
