import { createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { hchacha, xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import { sealOlderSettings } from '../../../../test/helpers/older-settings.js';
import {
  AccountContent,
  ContentUnreadable,
  deriveContentKey,
  type CredentialPurpose,
} from './account-content.js';

const ACCOUNT = '3acac10b-ee58-472f-acca-d62315e02895';
const secret = randomBytes(32);
const account = new AccountContent(secret, ACCOUNT);

function errorOf(open: () => unknown): ContentUnreadable | null {
  try {
    open();
    return null;
  } catch (error) {
    expect(error).toBeInstanceOf(ContentUnreadable);
    return error as ContentUnreadable;
  }
}

const reasonFor = (open: () => unknown): string => errorOf(open)?.reason ?? 'opened';

const changed = (sealed: string, change: (bytes: Buffer) => Buffer): string =>
  `1.${change(Buffer.from(sealed.slice(2), 'base64url')).toString('base64url')}`;

describe(AccountContent.name, () => {
  it.each<[CredentialPurpose, unknown]>([
    ['credential:figma', { theme: 'dark', text: 'Grüße 🌍\u2028' }],
    ['credential:figma', null],
    ['credential:github', ['a', 1, false]],
    ['credential:figma', { long: 'x'.repeat(200_000) }],
  ])('opens what it sealed as %s', (purpose, value) => {
    const sealed = account.seal(purpose, value);
    expect(sealed).toMatch(/^1\.[\w-]+$/);
    expect(account.open(purpose, sealed)).toEqual(value);
    expect(account.seal(purpose, value)).not.toBe(sealed);
  });

  it('seals in the format of the contract', () => {
    const raw = Buffer.from(account.seal('credential:x', { a: 1 }).slice(2), 'base64url');
    const key = hkdfSync('sha256', secret, '', 'gatehouse content v1', 32);
    const words = (bytes: Buffer | ArrayBuffer): Uint32Array =>
      new Uint32Array(new Uint8Array(bytes).buffer);
    const subkey = new Uint32Array(8);
    const sigma = words(Buffer.from('expand 32-byte k'));
    hchacha(sigma, words(key), words(raw.subarray(0, 16)), subkey);
    const nonce = Buffer.concat([Buffer.alloc(4), raw.subarray(16, 24)]);
    const options = { authTagLength: 16 } as const;
    const cipher = createDecipheriv(
      'chacha20-poly1305',
      Buffer.from(subkey.buffer),
      nonce,
      options,
    );
    cipher.setAAD(Buffer.from(`credential:x\n${ACCOUNT}`), { plaintextLength: 7 });
    cipher.setAuthTag(raw.subarray(-16));
    expect(cipher.update(raw.subarray(24, -16), undefined, 'utf8') + cipher.final('utf8')).toBe(
      '{"a":1}',
    );
  });

  it('refuses another key, account or purpose', () => {
    const sealed = account.seal('credential:x', {});
    const others = [new AccountContent(randomBytes(32), ACCOUNT), new AccountContent(secret, 'b')];
    expect(others.map((other) => reasonFor(() => other.open('credential:x', sealed)))).toEqual([
      ...['not-authentic', 'not-authentic'],
    ]);
    expect(reasonFor(() => account.open('credential:y', sealed))).toBe('not-authentic');
  });

  it('refuses sealed content with any byte changed, removed or added', () => {
    const sealed = account.seal('credential:x', { a: 1 });
    const length = Buffer.from(sealed.slice(2), 'base64url').length;
    for (let at = 0; at < length; at += 1) {
      const flipped = changed(sealed, (bytes) => {
        bytes[at]! ^= 1 << (at % 8);
        return bytes;
      });
      const cut = changed(sealed, (bytes) => bytes.subarray(0, at));
      expect(reasonFor(() => account.open('credential:x', flipped))).toBe('not-authentic');
      const expected = at < 40 ? 'other-form' : 'not-authentic';
      expect(reasonFor(() => account.open('credential:x', cut))).toBe(expected);
    }
    const longer = changed(sealed, (bytes) => Buffer.concat([bytes, Buffer.alloc(1)]));
    expect(reasonFor(() => account.open('credential:x', longer))).toBe('not-authentic');
  });

  it.each([
    '',
    '1.',
    'c2VhbGVk',
    `2.${'A'.repeat(80)}`,
    `1.${'A'.repeat(80)}=`,
    `1.${'+'.repeat(80)}`,
  ])('returns %j unopened, for the client that wrote it', (text) => {
    expect(reasonFor(() => account.open('credential:x', text))).toBe('other-form');
  });

  it.each(['{"a":', '', '\u00ff'])(
    'does not read the content %j, and does not quote it',
    (text) => {
      const nonce = randomBytes(24);
      const data = Buffer.from(`credential:x\n${ACCOUNT}`);
      const cipher = xchacha20poly1305(deriveContentKey(secret), nonce, data);
      const sealed = Buffer.concat([nonce, cipher.encrypt(Buffer.from(text, 'latin1'))]);
      const error = errorOf(() =>
        account.open('credential:x', `1.${sealed.toString('base64url')}`),
      );
      expect([error?.reason, error?.cause]).toEqual(['not-json', undefined]);
    },
  );

  it('keeps the cause of a value that is not authentic', () => {
    const sealed = account.seal('credential:x', {});
    const error = errorOf(() => account.open('credential:y', sealed));
    expect(error).toMatchObject({ reason: 'not-authentic', cause: expect.any(Error) });
  });

  it('refuses to seal a value that is ambiguous or not JSON', () => {
    expect(() => account.seal('credential:x', undefined)).toThrow(
      'JSON cannot represent this value.',
    );
    expect(() => account.seal('credential:a\nb', {})).toThrow(TypeError);
    expect(() => new AccountContent(randomBytes(31), ACCOUNT)).toThrow(TypeError);
  });
});

describe('settings', () => {
  it.each([1, 2, Number.MAX_SAFE_INTEGER])(
    'opens settings under the revision %d that sealed them',
    (rev) => {
      const sealed = account.sealSettings(rev, { theme: 'dark' });
      expect(sealed).toMatch(new RegExp(`^2\\.${rev}\\.[\\w-]+$`));
      const { value, mark } = account.openSettings(sealed);
      expect(value).toEqual({ theme: 'dark' });
      const hash = createHash('sha256').update(sealed).digest('base64url');
      expect(mark).toEqual({ rev, hash });
      expect(account.markOf(rev, sealed)).toEqual(mark);
    },
  );

  it('refuses settings of another revision or account, or in the form of a credential', () => {
    const sealed = account.sealSettings(7, {});
    const bytes = sealed.slice('2.7.'.length);
    const other = new AccountContent(secret, 'b');
    expect(reasonFor(() => account.openSettings(`2.8.${bytes}`))).toBe('not-authentic');
    expect(reasonFor(() => account.openSettings(`1.${bytes}`))).toBe('not-authentic');
    expect(reasonFor(() => other.openSettings(sealed))).toBe('not-authentic');
    expect(reasonFor(() => account.open('credential:x', `1.${bytes}`))).toBe('not-authentic');
  });

  it('opens settings of version 1 under revision 0, and never seals in it', () => {
    const sealed = sealOlderSettings(secret, ACCOUNT, { a: 1 });
    expect(account.openSettings(sealed)).toMatchObject({ value: { a: 1 }, mark: { rev: 0 } });
    const older = 'settings' as CredentialPurpose;
    expect(() => account.seal(older, {})).toThrow('Use sealSettings');
    expect(() => account.open(older, sealed)).toThrow('Use sealSettings');
    for (const rev of [0, -1, 1.5, NaN, 2 ** 53]) {
      expect(() => account.sealSettings(rev, {})).toThrow(TypeError);
    }
  });

  it.each([
    ...['2.', '2.1', '2..', `2.0.${'A'.repeat(80)}`, `2.01.${'A'.repeat(80)}`, '3.1.AAAA', 'x'],
    ...[`2.-1.${'A'.repeat(80)}`, `2.9007199254740992.${'A'.repeat(80)}`, `2.1.${'A'.repeat(8)}`],
    ...[`2.1.${'A'.repeat(80)}=`, `2.1.${'A'.repeat(80)}.`, ` 2.1.${'A'.repeat(80)}`],
  ])('leaves the settings %j unopened', (text) => {
    expect(reasonFor(() => account.openSettings(text))).toBe('other-form');
  });
});
