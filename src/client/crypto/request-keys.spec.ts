import { readFileSync } from 'node:fs';
import type { SealPurpose } from '../../protocol/request-seal.js';
import { splitSeal } from '../../protocol/request-seal.js';
import { AccountRequests } from '../requests/account-requests.js';
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

const file = new URL('../../../test/vectors/agent-requests.json', import.meta.url);
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
});
