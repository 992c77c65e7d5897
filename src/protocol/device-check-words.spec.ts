import { createHash, randomBytes } from 'node:crypto';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { deviceCheckWords } from './device-check-words.js';

describe('the check words of a device', () => {
  it('encodes the first 55 bits of the hash of the device key', () => {
    for (let round = 0; round < 200; round += 1) {
      const key = randomBytes(32);
      const hash = createHash('sha256').update(key).digest('hex');
      const bits = BigInt(`0x${hash}`).toString(2).padStart(256, '0');
      const indexes = [0, 11, 22, 33, 44].map((at) => parseInt(bits.slice(at, at + 11), 2));
      const expected = indexes.map((index) => wordlist[index]);
      expect(deviceCheckWords(key.toString('base64'))).toEqual(expected);
    }
  });

  it('matches the documented vector', () => {
    expect(deviceCheckWords(Buffer.alloc(32).toString('base64url'))).toEqual([
      'grid',
      'duck',
      'problem',
      'valid',
      'cloth',
    ]);
  });

  it('refuses text that is not a key of 32 bytes', () => {
    expect(() => deviceCheckWords('AAAA')).toThrow(TypeError);
  });
});
