import { setMaxListeners } from 'node:events';
import { parseJson } from '../../../common/parse-json.js';
import { readBounded } from '../../../common/read-bounded.js';
import { readRetryAfter } from '../../../common/retry-after.js';
import { isRecord } from '../../../core/protocol/is-record.js';
import type { Clock } from '../../../common/runtime/clock.js';
import { MAX_SKEW_SECONDS } from '../access.js';
import { isSecureAddress, type GuardRuntime, type GuardSettings } from '../guard-options.js';
import type { Moment } from '../../../common/runtime/moment.js';

/** Gatehouse does not answer, or answers what the guard cannot use. The message has no body. */
export class IssuerFault extends Error {
  override readonly name = 'IssuerFault';

  constructor(
    message: string,
    readonly status: number | null = null,
    readonly retryAfterMs = 0,
  ) {
    super(message);
  }
}

export interface IssuerAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** Unix milliseconds of the `Date` header; null without one. */
  readonly dateMs: number | null;
}

/**
 * With a clock that is wrong, tokens would be accepted after their end.
 *
 * @throws IssuerFault where the clocks differ by more than a minute
 */
export function requireSameTime({ dateMs }: IssuerAnswer, sentAt: Moment, clock: Clock): void {
  const skewMs = MAX_SKEW_SECONDS * 1000;
  if (dateMs === null) {
    throw new IssuerFault('the answer has no Date header');
  }
  if (dateMs < sentAt.wallMs - skewMs || dateMs > clock.now() + skewMs) {
    throw new IssuerFault('the clocks of this machine and of Gatehouse differ by over a minute');
  }
}

export interface IssuerRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>>;
  readonly json?: object;
  readonly limitMs?: number;
  /** Ends the wait for the answer. */
  readonly signal?: AbortSignal;
  /** Sends the request after {@link IssuerHttp.close} too. */
  readonly isLast?: boolean;
}

const LIMIT_MS = 5000;
const MAX_BYTES = 4 * 1024 * 1024;
const LONGEST_RETRY_MS = 10_000;

/** Sends requests to Gatehouse, with a limit on the time and the size of each answer. */
export class IssuerHttp {
  private readonly closing = new AbortController();

  constructor(
    private readonly settings: Pick<GuardSettings, 'fetch'>,
    private readonly runtime: GuardRuntime,
  ) {
    // Each request that waits listens: their number is that of the backend's own requests.
    setMaxListeners(0, this.closing.signal);
  }

  /** @throws IssuerFault without an answer of 2xx */
  async send(url: string, request: IssuerRequest = {}): Promise<IssuerAnswer> {
    if (!isSecureAddress(url)) {
      throw new IssuerFault('the metadata names an address that is not https');
    }
    const { method = 'GET', headers, form, json, limitMs = LIMIT_MS } = request;
    const limit = new AbortController();
    const abort = (): void => limit.abort();
    const timer = this.runtime.timers.after(limitMs, abort);
    const signals = [request.signal, request.isLast === true ? undefined : this.closing.signal];
    signals.forEach((signal) => (signal?.aborted === true ? abort() : undefined));
    signals.forEach((signal) => signal?.addEventListener('abort', abort));
    const exchange = async (): Promise<IssuerAnswer> => {
      const response = await this.settings.fetch(url, {
        method,
        headers: { accept: 'application/json', ...headers, ...typeOf(request) },
        body: form === undefined ? stringify(json) : new URLSearchParams(form).toString(),
        // A redirect could carry a secret to another host.
        redirect: 'manual',
        signal: limit.signal,
      });
      return answerOf(response, await readText(response), this.runtime.clock.now());
    };
    try {
      limit.signal.throwIfAborted();
      // A `fetch` of the options may ignore its signal.
      return await Promise.race([aborted(limit.signal), exchange()]);
    } catch (error) {
      throw error instanceof IssuerFault ? error : new IssuerFault(reasonOf(error, limit.signal));
    } finally {
      timer.cancel();
      signals.forEach((signal) => signal?.removeEventListener('abort', abort));
    }
  }

  /** Ends requests that wait for an answer, and later ones. */
  close(): void {
    this.closing.abort();
  }
}

/** Rejects when the signal aborts. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

function typeOf({ form, json }: IssuerRequest): Record<string, string> {
  if (form !== undefined) {
    return { 'content-type': 'application/x-www-form-urlencoded' };
  }
  return json === undefined ? {} : { 'content-type': 'application/json' };
}

function stringify(json: object | undefined): string | null {
  return json === undefined ? null : JSON.stringify(json);
}

async function readText(response: Response): Promise<string> {
  const tooLarge = (): Error => new IssuerFault('the answer is too large', response.status);
  return (await readBounded(response.body ?? [], MAX_BYTES, tooLarge)).toString('utf8');
}

function answerOf({ status, ok, headers }: Response, text: string, now: number): IssuerAnswer {
  if (!ok) {
    const retryAfterMs = readRetryAfter(headers.get('retry-after'), now) ?? 0;
    const boundedMs = Math.min(retryAfterMs, LONGEST_RETRY_MS);
    throw new IssuerFault(`the answer has status ${status}`, status, boundedMs);
  }
  const body = text === '' ? {} : parseJson(text);
  if (!isRecord(body)) {
    throw new IssuerFault('the answer is not a JSON object', status);
  }
  const date = Date.parse(headers.get('date') ?? '');
  return { status, body, dateMs: Number.isNaN(date) ? null : date };
}

function reasonOf(error: unknown, limit: AbortSignal): string {
  if (limit.aborted) {
    return 'no answer in time';
  }
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
  return `the connection failed: ${code}`;
}
