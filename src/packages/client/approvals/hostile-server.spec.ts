import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { joinAnswer, signedTextOf, writeAnswer } from '../../../core/protocol/request-answer.js';
import type { AnswerChoice } from '../../../core/protocol/request-answer.js';
import type { AgentRequest } from '../../../core/protocol/agent-request.js';
import { joinSeal, sealDataOf, splitSeal } from '../../../core/protocol/request-seal.js';
import { DeviceKey } from '../crypto/device-key.js';
import { signWith } from '../crypto/ed25519.js';
import { deriveRequestKeyBytes, requestKeys, type RequestKeys } from '../crypto/request-keys.js';
import { AccountRequests, makeRequestId, type SealedRequest } from './account-requests.js';
import { judgeAnswers, type ListedAnswer } from './judge-answers.js';

const NOW = 1_795_227_948_852;
const LIFETIME_MS = 600_000;
const SECRET = Uint8Array.from(createHash('sha256').update('the account').digest());
const OTHER_SECRET = Uint8Array.from(createHash('sha256').update('the attacker').digest());
const ACCOUNT = '3acac10b-ee58-472f-acca-d62315e02895';
const KEYS = requestKeys(SECRET);
const REQUESTS = new AccountRequests(KEYS, ACCOUNT);
const IN_TIME = { now: NOW + 5000, elapsedMs: 5000 };

const draw = (change: Partial<AgentRequest> = {}): AgentRequest => ({
  v: 1,
  requestId: makeRequestId(),
  kind: 'permission',
  server: 'https://gate.example.org',
  account: ACCOUNT,
  session: { id: 's1', title: 'Fix the build' },
  tool: { name: 'Bash', input: { command: 'npm test' } },
  cwd: '/srv/app',
  host: 'laptop',
  askedAt: NOW,
  expiresAt: NOW + LIFETIME_MS,
  ...change,
});

const ask = async (change: Partial<AgentRequest> = {}, of = REQUESTS): Promise<SealedRequest> => {
  const sealed = await of.seal(draw(change));
  return sealed ?? Promise.reject(new Error('the request is too large'));
};

const answer = (
  { request, digest }: Pick<SealedRequest, 'request' | 'digest'>,
  choice: AnswerChoice,
  of = REQUESTS,
) => of.sealAnswer({ v: 1, requestId: request.requestId, digest, choice, decidedAt: NOW + 1000 });

const listed = (sealed: string): ListedAnswer => ({ sealed, session: 'phone' });
const judge = (asked: SealedRequest, answers: readonly ListedAnswer[], time = IN_TIME) =>
  judgeAnswers(REQUESTS, asked, answers, time);

/** Seals a text with the right seal key, which no server has: the signature has to hold alone. */
async function sealWithTheKey(asked: SealedRequest, plaintext: Uint8Array): Promise<string> {
  const nonce = Uint8Array.from({ length: 12 }, (_none, index) => index);
  const data = sealDataOf('answer', ACCOUNT, asked.request.requestId);
  return joinSeal(nonce, await KEYS.encrypt('answer', nonce, Uint8Array.from(plaintext), data));
}

describe('a server that lies about answers', () => {
  it('yields no allow from 1,000 altered, swapped, replayed and invented answers', async () => {
    const asked = await ask();
    const [before, after] = [await ask(), await ask()];
    const elsewhere = new AccountRequests(KEYS, 'another-account');
    const invented = new AccountRequests(requestKeys(OTHER_SECRET), ACCOUNT);
    const denied = await answer(asked, 'deny');
    const seen = [
      ...[await answer(before, 'allow'), await answer(after, 'allow'), denied],
      await answer(await ask({ account: 'another-account' }, elsewhere), 'allow', elsewhere),
      ...[asked.sealed, before.sealed, await answer(asked, 'allow', invented)],
      await answer(asked, 'allow', elsewhere),
      await answer({ request: asked.request, digest: before.digest }, 'allow'),
      await answer(asked, { answers: [] }),
    ];
    const bytes = seen.map((text) => Buffer.from(text.slice(2), 'base64url'));
    const altered = fc
      .record({
        index: fc.nat(seen.length - 1),
        at: fc.nat(),
        flip: fc.integer({ min: 1, max: 255 }),
      })
      .map(({ index, at, flip }) => {
        const copy = Buffer.from(bytes[index]!);
        copy[at % copy.length]! ^= flip;
        return `1.${copy.toString('base64url')}`;
      });
    const spliced = fc
      .record({ head: fc.nat(seen.length - 1), tail: fc.nat(seen.length - 1), at: fc.nat() })
      .map(({ head, tail, at }) => {
        const [one, other] = [bytes[head]!, bytes[tail]!];
        const cut = at % Math.min(one.length, other.length);
        return `1.${Buffer.concat([one.subarray(0, cut), other.subarray(cut)]).toString('base64url')}`;
      });
    const random = fc
      .uint8Array({ maxLength: 400 })
      .map((raw) => joinSeal(new Uint8Array(12), raw));
    const forged = fc.oneof(altered, spliced, random, fc.constantFrom(...seen), fc.string());
    const lists = fc.array(forged, { minLength: 3, maxLength: 5 });
    let tried = 0;
    await fc.assert(
      fc.asyncProperty(lists, async (answers) => {
        tried += answers.length;
        const { decision } = await judge(asked, answers.map(listed));
        expect(decision?.choice ?? 'deny').toBe('deny');
      }),
      { numRuns: 340 },
    );
    expect(tried).toBeGreaterThan(1000);
    expect((await judge(asked, [listed(await answer(asked, 'allow'))])).decision).toMatchObject({
      choice: 'allow',
      isSigned: true,
    });
  });

  it('does not make the answer to one request count for another with the same text', async () => {
    const first = await ask();
    const second = await ask();
    const allowed = await answer(first, 'allow');
    expect(await judge(second, [listed(allowed)])).toEqual({
      decision: null,
      refused: [{ session: 'phone', reason: 'not-authentic' }],
    });
  });

  it('does not show another text than the one that is answered', async () => {
    const asked = await ask();
    const shown = await ask({ requestId: asked.request.requestId, cwd: '/elsewhere' });
    const sealed = await answer(shown, 'allow');
    const { decision, refused } = await judge(asked, [listed(sealed)]);
    expect([decision, refused[0]?.reason]).toEqual([null, 'other-digest']);
  });

  it('does not swap the requests that the phone opens', async () => {
    const [one, other] = [await ask(), await ask()];
    const { requestId } = one.request;
    expect(await REQUESTS.open(requestId, other.sealed)).toBe('not-authentic');
    expect(await REQUESTS.open(requestId, one.sealed)).toMatchObject({ digest: one.digest });
  });

  it('does not relay the request of another account of the same key', async () => {
    const elsewhere = new AccountRequests(KEYS, 'another-account');
    const asked = await ask({ account: 'another-account' }, elsewhere);
    const { requestId } = asked.request;
    expect(await REQUESTS.open(requestId, asked.sealed)).toBe('not-authentic');
    await expect(REQUESTS.seal(draw({ account: 'another-account' }))).rejects.toThrow(TypeError);
  });

  it.each([
    ['late by the wall clock', { now: NOW + LIFETIME_MS, elapsedMs: 5000 }],
    ['late by the monotonic clock alone', { now: NOW - 3_600_000, elapsedMs: LIFETIME_MS }],
  ])('gains nothing by delaying: %s', async (_title, time) => {
    const asked = await ask();
    const allowed = listed(await answer(asked, 'allow'));
    const denied: ListedAnswer = { deny: true, session: 'phone' };
    expect(await judge(asked, [allowed, denied], time)).toEqual({
      decision: null,
      refused: [
        { session: 'phone', reason: 'late' },
        { session: 'phone', reason: 'late' },
      ],
    });
  });

  it('gains nothing by withholding', async () => {
    expect(await judge(await ask(), [])).toEqual({ decision: null, refused: [] });
  });
});

describe('a thief with a session token', () => {
  it('displaces no true answer with the garbage of five sessions', async () => {
    const asked = await ask();
    const garbage = Array.from({ length: 5 }, (_none, index): ListedAnswer => {
      return { sealed: `1.${'A'.repeat(100 + index * 4)}`, session: `thief ${index}` };
    });
    const { decision, refused } = await judge(asked, [
      ...garbage,
      listed(await answer(asked, 'allow')),
    ]);
    expect(decision).toMatchObject({ choice: 'allow', isSigned: true, session: 'phone' });
    expect(refused.map(({ session }) => session)).toEqual(garbage.map(({ session }) => session));
  });

  it('denies, which is named as unsigned and does not count next to a signed answer', async () => {
    const asked = await ask();
    const denial: ListedAnswer = { deny: true, session: 'thief' };
    expect((await judge(asked, [denial])).decision).toEqual({
      ...{ choice: 'deny', isSigned: false, session: 'thief', sessionName: null, decidedAt: null },
    });
    const allowed = listed(await answer(asked, 'allow'));
    expect((await judge(asked, [denial, allowed])).decision).toMatchObject({ choice: 'allow' });
  });
});

describe('requestKeys', () => {
  const textOf = (asked: SealedRequest, choice: AnswerChoice) =>
    writeAnswer({
      v: 1,
      requestId: asked.request.requestId,
      digest: asked.digest,
      choice,
      decidedAt: NOW,
    });

  it.each([
    ['the key of the account', SECRET],
    ['the seal key', deriveRequestKeyBytes(SECRET).answer],
    ['the request key', deriveRequestKeyBytes(SECRET).request],
    ['the attacker', OTHER_SECRET],
  ])('accepts no answer that is signed by %s', async (_title, seed) => {
    const asked = await ask();
    const text = textOf(asked, 'allow');
    const signature = await signWith(Uint8Array.from(seed), signedTextOf(text));
    const sealed = await sealWithTheKey(asked, joinAnswer(signature, text));
    const { decision, refused } = await judge(asked, [listed(sealed)]);
    expect([decision, refused[0]?.reason]).toEqual([null, 'not-authentic']);
  });

  it('accepts no signature over the answer without its first line', async () => {
    const asked = await ask();
    const text = textOf(asked, 'allow');
    const sealed = await sealWithTheKey(asked, joinAnswer(await KEYS.sign(text), text));
    expect((await judge(asked, [listed(sealed)])).decision).toBeNull();
  });

  it('makes no answer a login, and no login an answer', async () => {
    const { answerSeed } = deriveRequestKeyBytes(SECRET);
    const account = await DeviceKey.fromSecret(SECRET);
    const signer = await DeviceKey.fromSecret(answerSeed);
    expect(signer.publicKey).not.toBe(account.publicKey);
    const asked = await ask();
    const signed = Buffer.from(signedTextOf(textOf(asked, 'allow'))).toString('base64');
    await expect(account.signChallenge(signed, 'https://gate.example.org')).rejects.toMatchObject({
      reason: 'not-a-challenge',
    });
  });

  it('opens a seal for its own purpose only', async () => {
    const asked = await ask();
    const parts = splitSeal(asked.sealed)!;
    const data = sealDataOf('request', ACCOUNT, asked.request.requestId);
    const opened = (purpose: Parameters<RequestKeys['decrypt']>[0]) =>
      KEYS.decrypt(purpose, parts.nonce, parts.ciphertext, data);
    expect((await opened('request')).length).toBeGreaterThan(100);
    await expect(opened('answer')).rejects.toThrow();
  });
});

describe(judgeAnswers.name, () => {
  const questions = [
    {
      ...{ id: '1', text: 'Which?', multiple: false, custom: false },
      options: [
        { id: 'a', label: 'A', description: '' },
        { id: 'b', label: 'B', description: '' },
      ],
    },
  ];

  it.each<[string, AnswerChoice]>([
    ['allow', 'allow'],
    ['no answer', { answers: [] }],
    ['an unknown option', { answers: [{ id: '1', options: ['c'] }] }],
    ['two options', { answers: [{ id: '1', options: ['a', 'b'] }] }],
    ['one option twice', { answers: [{ id: '1', options: ['a', 'a'] }] }],
    ['a text', { answers: [{ id: '1', options: ['a'], text: 'x' }] }],
    ['another question', { answers: [{ id: '2', options: ['a'] }] }],
  ])('counts no choice that a question does not offer: %s', async (_title, choice) => {
    const asked = await ask({ kind: 'user_action', questions });
    const { decision, refused } = await judge(asked, [listed(await answer(asked, choice))]);
    expect([decision, refused[0]?.reason]).toEqual([null, 'choice']);
    const good = { answers: [{ id: '1', options: ['b'] }] };
    expect((await judge(asked, [listed(await answer(asked, good))])).decision).toMatchObject({
      choice: good,
    });
  });

  it.each<[string, Partial<AgentRequest>]>([
    ['an input longer than 4 KB', { tool: { name: 'Bash', input: { command: 'x'.repeat(4096) } } }],
    ['a program that takes denials only', { denyOnly: true }],
  ])('counts a denial, and no allow, of %s', async (_title, change) => {
    const asked = await ask(change);
    const { decision, refused } = await judge(asked, [listed(await answer(asked, 'allow'))]);
    expect([decision, refused[0]?.reason]).toEqual([null, 'too-large']);
    expect((await judge(asked, [listed(await answer(asked, 'deny'))])).decision).toMatchObject({
      choice: 'deny',
      isSigned: true,
    });
  });

  it('counts only denials on an account without a key', async () => {
    const asked = await ask();
    const answers = [
      listed(await answer(asked, 'allow')),
      { deny: true, session: 'page' },
    ] as const;
    const { decision } = await judgeAnswers(null, asked, answers, IN_TIME);
    expect(decision).toMatchObject({ choice: 'deny', isSigned: false });
  });
});
