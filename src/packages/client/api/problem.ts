import * as v from 'valibot';
import type { components } from './api-types.js';

/** Every `code` that a server of this version refuses with (contract, Errors). */
export type RefusalCode = components['schemas']['ErrorCode'];

/** A refusal of a server; only `status`, `code` and `message` are always present. */
export interface ProblemFacts {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly provider?: string | undefined;
  /** The account of a login that was refused after its key or identity was proven. */
  readonly accountId?: string | undefined;
  readonly details?: readonly { readonly path: string; readonly message: string }[] | undefined;
}

/** A caller gives a wait to a timer, and longer ones fire at once: 24 days. */
const MAX_WAIT_SECONDS = 2_147_482;

/**
 * A refusal (contract, Errors). Programs read `code`, people read `message`. The client has two codes
 * of its own: `unexpected-answer`, where the response is not of a Gatehouse server, but for example of
 * a proxy in front of it, and `answer-too-large`, where it is larger than the client reads.
 */
export class GatehouseProblem extends Error implements ProblemFacts {
  override readonly name = 'GatehouseProblem';
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly provider: string | undefined;
  readonly accountId: string | undefined;
  readonly details: ProblemFacts['details'];

  constructor(facts: ProblemFacts) {
    super(facts.message);
    this.status = facts.status;
    this.code = facts.code;
    this.requestId = facts.requestId;
    const { retryAfterSeconds: wait } = facts;
    this.retryAfterSeconds = wait && Math.min(wait, MAX_WAIT_SECONDS);
    this.provider = facts.provider;
    this.accountId = facts.accountId;
    this.details = facts.details;
  }

  /** True if the same request may succeed later without any other change. */
  get isTemporary(): boolean {
    return this.status === 429 || this.status >= 500;
  }
}

/** For `catch`: gives a refusal with one of the codes to `handle`, and throws any other failure. */
export function onRefusal<Result>(
  codes: readonly string[],
  handle: (refused: GatehouseProblem) => Result,
) {
  return (error: unknown): Result => {
    if (error instanceof GatehouseProblem && codes.includes(error.code)) {
      return handle(error);
    }
    throw error;
  };
}

/** For `catch`: returns null for what the server does not have, and throws any other failure. */
export const nullIfNotFound = onRefusal(['not-found'], () => null);

/** No answer: wrong address, no network, connection refused, or a timeout. */
export class ServerUnreachable extends Error {
  override readonly name = 'ServerUnreachable';

  constructor(
    readonly serverUrl: string,
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(`Cannot reach ${serverUrl}: ${reason}.`, options);
  }
}

/** Returns true if the same request may succeed later: no answer, or a refusal for now. */
export function isTemporary(error: unknown): error is ServerUnreachable | GatehouseProblem {
  return (
    error instanceof ServerUnreachable || (error instanceof GatehouseProblem && error.isTemporary)
  );
}

const text = v.fallback(v.optional(v.string()), undefined);
const detail = v.object({ path: v.string(), message: v.string() });
const problemBody = v.object({
  statusCode: v.number(),
  code: v.string(),
  message: v.string(),
  requestId: text,
  provider: text,
  accountId: text,
  retryAfterSeconds: v.fallback(v.optional(v.pipe(v.number(), v.minValue(0))), undefined),
  details: v.fallback(v.optional(v.array(v.fallback(v.nullable(detail), null))), undefined),
});

/**
 * The error of a response body or of a live connection; null for anything else.
 *
 * @param retryAfter seconds, of the header where there is one; else the body's own
 */
export function readProblem(body: unknown, retryAfter?: number): GatehouseProblem | null {
  const parsed = v.safeParse(problemBody, body);
  if (!parsed.success) {
    return null;
  }
  const { statusCode: status, details, ...facts } = parsed.output;
  return new GatehouseProblem({
    ...facts,
    status,
    retryAfterSeconds: retryAfter ?? facts.retryAfterSeconds,
    details: details?.filter((one) => one !== null),
  });
}
