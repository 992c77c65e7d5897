import { base64urlnopad, utf8 } from '@scure/base';
import { sha256 } from '@noble/hashes/sha2.js';
import { isAllowedRemotely, jsonOf, type AgentRequest } from './agent-request.js';
import { recordOf } from './is-record.js';

/** The first line of the signed bytes; with it a signature can only mean an answer. */
const ANSWER_VERSION = 'gatehouse-answer-v1';
/** Limit of an answer's JSON. */
export const MAX_ANSWER_BYTES = 32 * 1024;
const SIGNATURE_BYTES = 64;

type Bytes = Uint8Array<ArrayBuffer>;

/** The answer to one question. */
export interface QuestionAnswer {
  /** The id of the question. */
  readonly id: string;
  /** Ids of the chosen options. */
  readonly options: readonly string[];
  /** The person's own text, where the question takes one. */
  readonly text?: string;
}

export type AnswerChoice = 'allow' | 'deny' | { readonly answers: readonly QuestionAnswer[] };

/** The decision of the person (contract, Formats). */
export interface RequestAnswer {
  readonly v: 1;
  readonly requestId: string;
  /** {@link digestOf} the request that the person saw. */
  readonly digest: string;
  readonly choice: AnswerChoice;
  /** Unix milliseconds by the clock of the answering device: for display only. */
  readonly decidedAt: number;
}

/** The reason why an opened answer with a valid signature does not count. */
export type AnswerMismatch =
  | 'other-form'
  | 'other-request'
  | 'other-digest'
  | 'choice'
  | 'too-large';

/** SHA-256 of a request's plaintext in base64url: a changed byte changes it. */
export function digestOf(requestBytes: Uint8Array): string {
  return base64urlnopad.encode(sha256(requestBytes));
}

export function writeAnswer(answer: RequestAnswer): Bytes {
  return Uint8Array.from(utf8.decode(JSON.stringify(answer)));
}

/** Returns the bytes that the answer key signs. */
export function signedTextOf(answerBytes: Uint8Array): Bytes {
  return Uint8Array.from([...utf8.decode(`${ANSWER_VERSION}\n`), ...answerBytes]);
}

/** Returns the plaintext of an answer's seal: the signature, then the bytes of its JSON. */
export function joinAnswer(signature: Uint8Array, answerBytes: Uint8Array): Bytes {
  return Uint8Array.from([...signature, ...answerBytes]);
}

/** Splits the result of {@link joinAnswer}; null for another length. */
export function splitAnswer(
  plaintext: Uint8Array,
): { readonly signature: Bytes; readonly answerBytes: Bytes } | null {
  const length = plaintext.length - SIGNATURE_BYTES;
  return length <= 0 || length > MAX_ANSWER_BYTES
    ? null
    : {
        signature: Uint8Array.from(plaintext.subarray(0, SIGNATURE_BYTES)),
        answerBytes: Uint8Array.from(plaintext.subarray(SIGNATURE_BYTES)),
      };
}

/**
 * Checks an answer whose signature was verified against the request that was asked. The time is
 * judged apart, by {@link isInTime}.
 *
 * @param digest of the request, as the asking program kept it
 */
export function checkAnswer(
  answerBytes: Uint8Array,
  request: AgentRequest,
  digest: string,
): RequestAnswer | AnswerMismatch {
  const answer = readAnswer(answerBytes);
  if (answer === null) {
    return 'other-form';
  }
  if (answer.requestId !== request.requestId) {
    return 'other-request';
  }
  if (answer.digest !== digest) {
    return 'other-digest';
  }
  if (!fitsRequest(answer.choice, request)) {
    return 'choice';
  }
  return answer.choice === 'allow' && !isAllowedRemotely(request) ? 'too-large' : answer;
}

/** True if the choice is one that the request offers. */
export function fitsRequest(choice: AnswerChoice, { kind, questions = [] }: AgentRequest): boolean {
  if (choice === 'deny') {
    return true;
  }
  if (kind === 'permission') {
    return choice === 'allow';
  }
  return (
    choice !== 'allow' &&
    choice.answers.length === questions.length &&
    questions.every(({ id, options, multiple, custom }, index) => {
      const answer = choice.answers[index];
      if (answer?.id !== id) {
        return false;
      }
      const chosen = new Set(answer.options);
      const isKnown = answer.options.every((one) => options.some((option) => option.id === one));
      const hasText = answer.text !== undefined && answer.text !== '';
      const count = chosen.size + (hasText ? 1 : 0);
      const isOnce = chosen.size === answer.options.length && (multiple || count === 1);
      return isKnown && isOnce && count > 0 && (custom || answer.text === undefined);
    })
  );
}

/** A request's clocks, read when it was drawn and when its answer is judged. */
export interface AnswerTime {
  /** The wall clock of the asking computer, in Unix milliseconds. */
  readonly now: number;
  /** Milliseconds since the request was drawn, by a clock that cannot be set. */
  readonly elapsedMs: number;
}

/** True if both clocks are before the expiry: one of them may have been set back, or have stood still. */
export function isInTime(
  { askedAt, expiresAt }: Pick<AgentRequest, 'askedAt' | 'expiresAt'>,
  { now, elapsedMs }: AnswerTime,
): boolean {
  return now < expiresAt && elapsedMs < expiresAt - askedAt;
}

function readAnswer(bytes: Uint8Array): RequestAnswer | null {
  const fields = jsonOf(bytes);
  const { v, requestId, digest, decidedAt } = fields ?? {};
  const choice = readChoice(fields?.['choice']);
  if (v !== 1 || typeof requestId !== 'string' || typeof digest !== 'string') {
    return null;
  }
  return choice !== null && Number.isSafeInteger(decidedAt)
    ? { v, requestId, digest, choice, decidedAt: decidedAt as number }
    : null;
}

function readChoice(value: unknown): AnswerChoice | null {
  if (value === 'allow' || value === 'deny') {
    return value;
  }
  const { answers } = recordOf(value);
  if (!Array.isArray(answers)) {
    return null;
  }
  const read = answers.map(readQuestionAnswer).filter((one) => one !== null);
  return read.length === answers.length ? { answers: read } : null;
}

function readQuestionAnswer(value: unknown): QuestionAnswer | null {
  const { id, options, text } = recordOf(value);
  const areTexts =
    Array.isArray(options) && options.every((one): one is string => typeof one === 'string');
  if (typeof id !== 'string' || !areTexts) {
    return null;
  }
  if (text === undefined) {
    return { id, options };
  }
  return typeof text === 'string' ? { id, options, text } : null;
}
