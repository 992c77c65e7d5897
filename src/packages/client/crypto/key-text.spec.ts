import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { bech32m } from '@scure/base';
import { DeviceKeyError, formatDeviceKey, parseDeviceKey } from './key-text.js';

interface Golden {
  readonly keys: readonly { secret: string; text: string; olderText: string }[];
}

const file = new URL('../../../../test/vectors/account-content.json', import.meta.url);
const { keys } = JSON.parse(readFileSync(file, 'utf8')) as Golden;
const ALPHABET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

function reasonFor(text: string): string {
  try {
    return hex(parseDeviceKey(text));
  } catch (error) {
    expect(error).toBeInstanceOf(DeviceKeyError);
    const { message, reason } = error as DeviceKeyError;
    expect(text === '' || !message.includes(text)).toBe(true);
    return reason;
  }
}

describe('the text of a device key', () => {
  it.each(keys)('is written as $text', ({ secret, text, olderText }) => {
    expect(formatDeviceKey(Buffer.from(secret, 'hex'))).toBe(text);
    expect(text).toHaveLength(66);
    expect([text, text.toUpperCase(), olderText].map(reasonFor)).toEqual([secret, secret, secret]);
  });

  it('is read in groups, as a printed sheet shows it', () => {
    const secret = randomBytes(32);
    const groups = formatDeviceKey(secret).match(/.{1,4}/g) ?? [];
    expect(reasonFor(groups.join(' '))).toBe(hex(secret));
  });

  it('is refused with any one character mistyped, or two exchanged', () => {
    const text = formatDeviceKey(randomBytes(32));
    for (let at = 'gatekey1'.length; at < text.length; at += 1) {
      for (const other of ALPHABET.replace(text[at] ?? '', '')) {
        expect(reasonFor(`${text.slice(0, at)}${other}${text.slice(at + 1)}`)).toBe('checksum');
      }
      const [here = '', next = ''] = text.slice(at, at + 2);
      if (here !== next && next !== '') {
        const exchanged = `${text.slice(0, at)}${next}${here}${text.slice(at + 2)}`;
        expect(reasonFor(exchanged)).toBe('checksum');
      }
    }
  });

  it('is refused with characters missing, added, or in mixed case', () => {
    const text = formatDeviceKey(randomBytes(32));
    const mixed = `${text.slice(0, 20)}${text.slice(20).toUpperCase()}`;
    const changed = [text.slice(0, -1), `${text}q`, mixed, 'gatekey1', text.replace('y', 'b')];
    expect(changed.map(reasonFor)).toEqual([
      ...Array.from({ length: 4 }, () => 'checksum'),
      'form',
    ]);
  });

  it.each([
    ...['', 'A', 'A'.repeat(42), 'A'.repeat(44), `${'A'.repeat(42)} `, `${'A'.repeat(42)}é`],
    // The last character stands for four bits only, and sets others.
    `${'A'.repeat(42)}B`,
    // The text is a valid bech32m text of another kind (BIP 350).
    bech32m.encodeFromBytes('otherkey', new Uint8Array(32)),
    bech32m.encodeFromBytes('gatekey', new Uint8Array(31)),
    'split1checkupstagehandshakeupstreamerranterredcaperredlc445v',
  ])('is refused as %j', (text) => {
    expect(reasonFor(text)).toBe('form');
  });

  it('is refused with the kind of the mistake', () => {
    const text = formatDeviceKey(randomBytes(32));
    expect(() => parseDeviceKey(`${text}q`)).toThrow(
      'This device key has a typing mistake: its checksum does not match.',
    );
    expect(() => parseDeviceKey('x')).toThrow(
      "This isn't a device key. Keys start with gatekey1; older ones have 43 characters.",
    );
  });

  it('is created for 32 bytes only', () => {
    expect(() => formatDeviceKey(new Uint8Array(31))).toThrow(DeviceKeyError);
  });
});
