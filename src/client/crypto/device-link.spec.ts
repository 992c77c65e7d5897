import { createHash, randomBytes } from 'node:crypto';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { deviceCheckWords } from './device-check-words.js';
import { deviceLink, readDeviceLink } from './device-link.js';

const KEY = Buffer.from('fbefbe'.padEnd(64, '0'), 'hex').toString('base64url');
const LINK = { serverUrl: 'https://gate.example/base', userCode: 'WDJB-MJHT', publicKey: KEY };

describe('the link of a device', () => {
  it('is read as it was made', () => {
    expect(deviceLink(LINK)).toBe(`https://gate.example/base/app/device#WDJB-MJHT.${KEY}`);
    expect(readDeviceLink(deviceLink(LINK))).toEqual(LINK);
  });

  it('is read with a code in any case and without the dash', () => {
    const text = `https://gate.example/base/app/device#wdjbmjht.${KEY}`;
    expect(readDeviceLink(text)).toEqual(LINK);
  });

  it.each([
    '',
    'x',
    '#',
    `#WDJB-MJHT.${KEY}`,
    `/app/device#WDJB-MJHT.${KEY}`,
    `https://gate.example/app/other#WDJB-MJHT.${KEY}`,
    `https://gate.example/app/device?x=1#WDJB-MJHT.${KEY}`,
    `https://user:word@gate.example/app/device#WDJB-MJHT.${KEY}`,
    `javascript:alert(1)//app/device#WDJB-MJHT.${KEY}`,
    `file:///app/device#WDJB-MJHT.${KEY}`,
    `https://gate.example/app/device#WDJB-MJHT`,
    `https://gate.example/app/device#WDJB-MJHT.`,
    `https://gate.example/app/device#WDJB-MJHT.${KEY.slice(1)}`,
    `https://gate.example/app/device#WDJB-MJHT.${KEY}A`,
    `https://gate.example/app/device#WDJB-MJHT.${KEY}.x`,
    `https://gate.example/app/device#ADJB-MJHT.${KEY}`,
    `https://gate.example/app/device#WDJB-MJHT.${KEY}#x`,
  ])('is not %j', (text) => {
    expect(readDeviceLink(text)).toBeNull();
  });
});

describe('the check words of a device', () => {
  it('are the first 55 bits of the hash of its key', () => {
    for (let round = 0; round < 200; round += 1) {
      const key = randomBytes(32);
      const hash = createHash('sha256').update(key).digest('hex');
      const bits = BigInt(`0x${hash}`).toString(2).padStart(256, '0');
      const indexes = [0, 11, 22, 33, 44].map((at) => parseInt(bits.slice(at, at + 11), 2));
      const expected = indexes.map((index) => wordlist[index]);
      expect(deviceCheckWords(key.toString('base64'))).toEqual(expected);
    }
  });

  it('stay what they are', () => {
    expect(deviceCheckWords(Buffer.alloc(32).toString('base64url'))).toEqual([
      'grid',
      'duck',
      'problem',
      'valid',
      'cloth',
    ]);
  });

  it('are none of what is no key', () => {
    expect(() => deviceCheckWords('AAAA')).toThrow(TypeError);
  });
});
