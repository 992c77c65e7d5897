/** What a server said when it refused; only `status`, `code` and `message` are always there. */
export interface ProblemFacts {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly provider?: string | undefined;
  readonly details?: readonly { readonly path: string; readonly message: string }[] | undefined;
}

/**
 * A refusal (contract, Errors). Programs read `code`, people `message`. The code
 * `unexpected-answer` is the client's own: what answered does not speak this contract.
 */
export class GatehouseProblem extends Error implements ProblemFacts {
  override readonly name = 'GatehouseProblem';
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly provider: string | undefined;
  readonly details: ProblemFacts['details'];

  constructor(facts: ProblemFacts) {
    super(facts.message);
    this.status = facts.status;
    this.code = facts.code;
    this.requestId = facts.requestId;
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.provider = facts.provider;
    this.details = facts.details;
  }

  /** Whether the same request may pass later without anybody doing anything. */
  get isTemporary(): boolean {
    return this.status === 429 || this.status >= 500;
  }
}

/** No answer at all: wrong address, no network, nobody listening, or nothing said in time. */
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

/**
 * The error shape as it stands in a body, on HTTP and on a live connection; null for anything else.
 *
 * @param retryAfter seconds, of the header where there is one; else the body's own
 */
export function readProblem(body: unknown, retryAfter?: number): GatehouseProblem | null {
  if (!isRecord(body)) {
    return null;
  }
  const { statusCode: status, code, message, requestId, provider, details } = body;
  if (typeof status !== 'number' || typeof code !== 'string' || typeof message !== 'string') {
    return null;
  }
  return new GatehouseProblem({
    status,
    code,
    message,
    retryAfterSeconds: retryAfter ?? secondsOrNothing(body['retryAfterSeconds']),
    requestId: textOrNothing(requestId),
    provider: textOrNothing(provider),
    details: Array.isArray(details) ? details.filter(isDetail) : undefined,
  });
}

/** Whether a value is an object whose fields can be looked at. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isDetail(value: unknown): value is { path: string; message: string } {
  return (
    isRecord(value) && typeof value['path'] === 'string' && typeof value['message'] === 'string'
  );
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function secondsOrNothing(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined;
}
