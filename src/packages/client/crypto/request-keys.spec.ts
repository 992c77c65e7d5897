import { readFileSync } from 'node:fs';
import { withCrypto } from '../../../../test/helpers/platform-crypto.js';
import type { SealPurpose } from '../../../core/protocol/request-seal.js';
import { splitSeal } from '../../../core/protocol/request-seal.js';
import { AccountRequests } from '../approvals/account-requests.js';
import {
  browserRequestKeys,
  canKeepRequestKeys,
  importRequestKeys,
} from './browser-request-keys.js';
import { publicKeyOf } from './ed25519.js';
import { deriveRequestKeyBytes, requestKeys } from './request-keys.js';

interface Vectors {
  readonly secret: string;
  readonly accountId: string;
  readonly keys: Readonly<Record<SealPurpose | 'answerSeed' | 'answerPublicKey', string>>;
  readonly requests: readonly {
    requestId: string;
    plaintext: string;
    nonce: string;
    digest: string;
    sealed: string;
    answers: readonly { plaintext: string; signature: string; nonce: string; sealed: string }[];
  }[];
}

const file = new URL('../../../../test/vectors/agent-requests.json', import.meta.url);
const vectors = JSON.parse(readFileSync(file, 'utf8')) as Vectors;
const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'));
const hex = (of: Uint8Array) => Buffer.from(of).toString('hex');

describe(deriveRequestKeyBytes.name, () => {
  it('derives the keys of the vectors', async () => {
    const { answerSeed, ...seals } = deriveRequestKeyBytes(bytes(vectors.secret));
    const { request, answer, answerSeed: seed, answerPublicKey } = vectors.keys;
    expect([hex(seals.request), hex(seals.answer), hex(answerSeed)]).toEqual([
      ...[request, answer, seed],
    ]);
    expect(hex(await publicKeyOf(answerSeed))).toBe(answerPublicKey);
  });

  it('refuses a secret of another length', () => {
    expect(() => deriveRequestKeyBytes(new Uint8Array(31))).toThrow(TypeError);
  });
});

describe.each([
  ['in any engine', () => Promise.resolve(requestKeys(bytes(vectors.secret)))],
  ['in Web Crypto', async () => browserRequestKeys(await importRequestKeys(bytes(vectors.secret)))],
])('RequestKeys %s', (_title, load) => {
  it('opens the requests and the answers of the vectors', async () => {
    const requests = new AccountRequests(await load(), vectors.accountId);
    for (const { requestId, plaintext, digest, sealed, answers } of vectors.requests) {
      const opened = await requests.open(requestId, sealed);
      expect(opened).toEqual({ request: JSON.parse(plaintext), digest });
      for (const answer of answers) {
        const verified = await requests.openAnswer(opened as never, answer.sealed);
        expect(verified).toEqual(JSON.parse(answer.plaintext));
      }
    }
  });

  it('seals and signs the bytes of the vectors', async () => {
    const keys = await load();
    const { requestId, plaintext, nonce, sealed, answers } = vectors.requests[0]!;
    const data = Uint8Array.from(Buffer.from(`request\n${vectors.accountId}\n${requestId}`));
    const text = Uint8Array.from(Buffer.from(plaintext));
    const made = await keys.encrypt('request', bytes(nonce), text, data);
    expect(hex(made)).toBe(hex(splitSeal(sealed)!.ciphertext));
    const [answer] = answers;
    const signed = Buffer.from(`gatehouse-answer-v1\n${answer!.plaintext}`);
    expect(hex(await keys.sign(Uint8Array.from(signed)))).toBe(answer!.signature);
  });

  it('opens nothing of another purpose, of other data, or that was changed', async () => {
    const keys = await load();
    const nonce = new Uint8Array(12);
    const [text, data] = [Uint8Array.of(1, 2, 3), Uint8Array.of(4)];
    const sealed = Uint8Array.from(await keys.encrypt('answer', nonce, text, data));
    expect(await keys.decrypt('answer', nonce, sealed, data)).toEqual(text);
    const changed = sealed.map((byte, at) => (at === 0 ? byte ^ 1 : byte));
    await expect(keys.decrypt('request', nonce, sealed, data)).rejects.toThrow();
    await expect(keys.decrypt('answer', nonce, sealed, new Uint8Array())).rejects.toThrow();
    await expect(keys.decrypt('answer', nonce, changed, data)).rejects.toThrow();
    await expect(keys.encrypt('answer', new Uint8Array(), text, data)).rejects.toThrow();
  });

  it('verifies its own signatures, and no others', async () => {
    const keys = await load();
    const message = Uint8Array.of(1);
    const signature = Uint8Array.from(await keys.sign(message));
    expect(await keys.verify(message, signature)).toBe(true);
    expect(await keys.verify(Uint8Array.of(2), signature)).toBe(false);
    expect(await keys.verify(message, new Uint8Array(64))).toBe(false);
    expect(await keys.verify(message, signature)).toBe(true);
  });
});

describe(importRequestKeys.name, () => {
  it('keeps no key that a script can read', async () => {
    const stored = await importRequestKeys(bytes(vectors.secret));
    for (const key of [stored.request, stored.answer, stored.answerKey]) {
      expect(key.extractable).toBe(false);
      await expect(crypto.subtle.exportKey('jwk', key)).rejects.toThrow();
    }
    expect(await canKeepRequestKeys()).toBe(true);
  });

  it('permits each key its own operations only', async () => {
    const stored = await importRequestKeys(bytes(vectors.secret));
    expect(stored.request.usages).toEqual(['encrypt', 'decrypt']);
    expect(stored.answer.usages).toEqual(['encrypt', 'decrypt']);
    expect(stored.answerKey.usages).toEqual(['sign']);
    expect(stored.answerPublicKey.usages).toEqual(['verify']);
    expect(stored.answerPublicKey.extractable).toBe(true);
  });

  it.each([false, true])('overwrites the bytes of the keys, failed: %s', async (isFailing) => {
    const { subtle } = crypto;
    const given: Uint8Array[] = [];
    const importKey = (...parts: unknown[]): unknown => {
      given.push(parts[1] as Uint8Array);
      return isFailing && given.length > 1
        ? Promise.reject(new Error('full'))
        : Reflect.apply(subtle.importKey, subtle, parts);
    };
    const own = { subtle: { importKey, exportKey: subtle.exportKey.bind(subtle) } };
    const outcome = await withCrypto(own, () =>
      importRequestKeys(bytes(vectors.secret)).then(
        () => 'imported',
        (error: Error) => error.message,
      ),
    );
    expect(outcome).toBe(isFailing ? 'full' : 'imported');
    const secrets = given.filter(({ length }, at) => at > 0 && length === 32).slice(0, 2);
    expect(secrets.length).toBeGreaterThan(0);
    expect(secrets.flatMap((key) => [...key]).every((byte) => byte === 0)).toBe(true);
  });
});

describe(canKeepRequestKeys.name, () => {
  const NONE = () => Promise.reject(new DOMException('x', 'NotSupportedError'));

  it.each([
    ['no crypto', undefined],
    ['no Web Crypto', {}],
    ['no Ed25519', { subtle: { generateKey: NONE } }],
  ])('returns false with %s', async (_what, platform) => {
    expect(await withCrypto(platform, canKeepRequestKeys)).toBe(false);
  });

  it('asks for an Ed25519 key that cannot be exported', async () => {
    const asked: unknown[] = [];
    const generateKey = (...parts: unknown[]) => Promise.resolve(asked.push(parts));
    expect(await withCrypto({ subtle: { generateKey } }, canKeepRequestKeys)).toBe(true);
    expect(asked).toEqual([['Ed25519', false, ['sign', 'verify']]]);
  });
});
