import fc from 'fast-check';
import { Random } from '../../../common/runtime/random.js';
import { unicodeText } from '../../../../test/helpers/unicode-text.js';
import { MasterKeys } from './master-keys.js';
import { BrokenSealError, SealedBoxService } from './sealed-box.service.js';

const SECRET = 'the-current-master-secret-of-these-tests';
const OLDER = 'the-master-secret-that-was-replaced-once';

const boxOf = (secret: string, previous: string[] = []): SealedBoxService =>
  new SealedBoxService(new MasterKeys(secret, previous), new Random());
const box = boxOf(SECRET);

/** Any text that a column may hold, without lone surrogates, which UTF-8 does not have. */
const text = fc.string({ unit: 'grapheme', maxLength: 400 });
const anyText = fc.oneof(text, unicodeText());

describe(SealedBoxService.name, () => {
  it('opens any value that it sealed, of any account', () => {
    fc.assert(
      fc.property(anyText, text, (plain, owner) => {
        const sealed = box.seal('external-flow', owner, plain);
        expect(box.open('external-flow', owner, sealed)).toBe(plain);
      }),
    );
  });

  it('never opens for another owner', () => {
    fc.assert(
      fc.property(text, text, text, (plain, owner, other) => {
        fc.pre(owner !== other);
        const sealed = box.seal('external-flow', owner, plain);
        expect(() => box.open('external-flow', other, sealed)).toThrow(BrokenSealError);
      }),
    );
  });

  it('never opens for another purpose', () => {
    const sealed = box.seal('external-flow', 'owner', 'text');
    expect(() => box.open('external-pending', 'owner', sealed)).toThrow(BrokenSealError);
  });

  it('fails with any one of its bits changed', () => {
    const sealed = box.seal('identity-credentials', 'owner', 'a refresh token');
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const tampered = Buffer.from(sealed);
      tampered[bit >> 3] = (tampered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => box.open('identity-credentials', 'owner', tampered)).toThrow(BrokenSealError);
    }
  });

  it('fails when it is truncated or extended, and with other bytes', () => {
    const sealed = box.seal('external-flow', 'owner', 'text');
    for (let length = 0; length < sealed.length; length += 1) {
      const cut = sealed.subarray(0, length);
      expect(() => box.open('external-flow', 'owner', cut)).toThrow(BrokenSealError);
    }
    const longer = Buffer.concat([sealed, Buffer.of(0)]);
    expect(() => box.open('external-flow', 'owner', longer)).toThrow(BrokenSealError);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(() => box.open('external-flow', 'owner', Buffer.from(bytes))).toThrow(
          BrokenSealError,
        );
      }),
    );
  });

  it('seals the same text differently each time, and reveals nothing of it', () => {
    const [one, two] = [0, 1].map(() => box.seal('external-flow', 'owner', 'plain-text-here'));
    expect(one?.equals(two ?? Buffer.of())).toBe(false);
    expect(one?.includes('plain-text-here')).toBe(false);
  });

  it('opens seals of a previous master secret, and seals with the current one', () => {
    const old = boxOf(OLDER).seal('external-flow', 'owner', 'text');
    const rotated = boxOf(SECRET, [OLDER]);
    expect(rotated.open('external-flow', 'owner', old)).toBe('text');
    const renewed = rotated.seal('external-flow', 'owner', 'text');
    expect(box.open('external-flow', 'owner', renewed)).toBe('text');
    expect(() => boxOf(OLDER).open('external-flow', 'owner', renewed)).toThrow(BrokenSealError);
  });

  it('names the missing key once a secret is gone', () => {
    const old = boxOf(OLDER).seal('external-flow', 'owner', 'text');
    expect(() => box.open('external-flow', 'owner', old)).toThrow(
      /No master secret has the key id/,
    );
    expect(old.subarray(1, 5).toString('hex')).toMatch(/^[0-9a-f]{8}$/);
  });
});
