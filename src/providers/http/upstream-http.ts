import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import type { Clock } from '../../common/clock.js';
import { tracing } from '../../common/trace.js';
import { isLoopbackHost } from '../../policy/flow/return-address.js';

export interface UpstreamLimits {
  /** For the whole request, from the queue to the last byte of the body. */
  readonly timeoutMs: number;
  /** Bytes of a response body, decompressed. */
  readonly maxBytes: number;
  readonly budget: {
    readonly perSecond: number;
    /** Requests that may be sent at once after a pause. */
    readonly burst: number;
    /** The longest time a request is queued. */
    readonly longestWaitMs: number;
  };
  readonly breaker: {
    /** Consecutive failures that open the circuit. */
    readonly failuresToOpen: number;
    /** How long the circuit stays open; then one request tests the upstream. */
    readonly openMs: number;
  };
}

export interface UpstreamRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: RequestInit['body'];
  readonly signal?: AbortSignal | null | undefined;
}

export type UpstreamFailure =
  | 'aborted'
  | 'circuit_open'
  | 'insecure_address'
  | 'network_error'
  | 'rate_limited'
  | 'timeout'
  | 'too_large'
  | 'server_error'
  | 'unexpected_answer';

/** A request to an upstream failed. Never quotes the response. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly failure: UpstreamFailure,
    options: ErrorOptions & { readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(`The upstream could not be asked: ${failure}`, options);
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The UpstreamError among an error and its causes; undefined when there is none. */
export function upstreamErrorIn(error: unknown): UpstreamError | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof UpstreamError) {
      return current;
    }
  }
  return undefined;
}

const BODILESS = [204, 205, 304];
const LONGEST_RETRY_AFTER_MS = 60 * 60 * 1000;

export const DEFAULT_UPSTREAM_LIMITS: UpstreamLimits = {
  timeoutMs: 30_000,
  maxBytes: 1024 * 1024,
  budget: { perSecond: 50, burst: 100, longestWaitMs: 5_000 },
  breaker: { failuresToOpen: 8, openMs: 15_000 },
};

/**
 * Sends every request to one upstream: https (http on a loopback host), limits of time and size,
 * redirects returned and never followed (ASVS 15.3.2), a budget of requests and a circuit breaker.
 * Bodies are neither logged nor quoted in errors.
 */
export class UpstreamHttp {
  private readonly budget: RequestBudget;
  private readonly breaker: CircuitBreaker;

  constructor(
    private readonly clock: Clock,
    private readonly limits: UpstreamLimits = DEFAULT_UPSTREAM_LIMITS,
  ) {
    this.budget = new RequestBudget(limits.budget);
    this.breaker = new CircuitBreaker(limits.breaker);
  }

  /**
   * The response with its whole body read. @throws UpstreamError, also for 429 and every 5xx, which
   * do not answer the request
   */
  async fetch(address: string | URL, request: UpstreamRequest = {}): Promise<Response> {
    const url = secureAddress(address);
    const timeout = AbortSignal.timeout(this.limits.timeoutMs);
    const signal = request.signal ? AbortSignal.any([timeout, request.signal]) : timeout;
    const openMs = this.breaker.waitMs(this.clock.now());
    if (openMs > 0) {
      throw new UpstreamError('circuit_open', { retryAfterMs: openMs });
    }
    try {
      await this.waitForBudget(signal);
      const response = await this.send(url, request, signal);
      refuseOutage(response);
      this.breaker.succeeded();
      return response;
    } catch (error) {
      throw this.failureOf(error, timeout, request.signal);
    }
  }

  private async waitForBudget(signal: AbortSignal): Promise<void> {
    const waitMs = this.budget.reserve(this.clock.now());
    if (waitMs === null) {
      const retryAfterMs = this.limits.budget.longestWaitMs;
      throw new UpstreamError('rate_limited', { retryAfterMs });
    }
    if (waitMs > 0) {
      await sleep(waitMs, undefined, { signal });
    }
  }

  private send(url: URL, request: UpstreamRequest, signal: AbortSignal): Promise<Response> {
    const traces = tracing();
    const { method = 'GET', headers = {}, body = null } = request;
    // Neither path nor query: they contain user names and authorization codes.
    const attributes = { 'http.request.method': method, 'server.address': url.hostname };
    const work = { name: `${method} ${url.hostname}`, kind: 'client', attributes } as const;
    const send = async (): Promise<Response> => {
      const response = await fetch(url, { method, headers, body, signal, redirect: 'manual' });
      const bytes = await readCapped(response, this.limits.maxBytes);
      const { status } = response;
      traces?.note({ 'http.response.status_code': status });
      const kept = BODILESS.includes(status) ? null : bytes;
      return new Response(kept, { status, headers: response.headers });
    };
    return traces === null ? send() : traces.run(work, send);
  }

  private failureOf(
    error: unknown,
    timeout: AbortSignal,
    caller: AbortSignal | null | undefined,
  ): UpstreamError {
    if (error instanceof UpstreamError && error.failure === 'rate_limited') {
      return error;
    }
    if (caller?.aborted === true && !timeout.aborted) {
      return new UpstreamError('aborted', { cause: error });
    }
    this.breaker.failed(this.clock.now());
    return error instanceof UpstreamError
      ? error
      : new UpstreamError(timeout.aborted ? 'timeout' : 'network_error', { cause: error });
  }
}

/** The body as JSON of that shape. @throws UpstreamError `unexpected_answer` for anything else */
export async function readJson<Schema extends v.GenericSchema>(
  response: Response,
  schema: Schema,
): Promise<v.InferOutput<Schema>> {
  const parsed = v.safeParse(schema, await response.json().catch(() => undefined));
  if (!parsed.success) {
    // No cause: the errors of both parsers quote the body.
    throw new UpstreamError('unexpected_answer');
  }
  return parsed.output;
}

async function readCapped(response: Response, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const body: AsyncIterable<Uint8Array> | null = response.body;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    // Ending the loop cancels the stream: the rest is never received.
    if (size > maxBytes) {
      throw new UpstreamError('too_large');
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** `Retry-After` is read in seconds (RFC 9110, 10.2.3), and is at most an hour. */
function refuseOutage({ status, headers }: Response): void {
  if (status === 429 || status >= 500) {
    const header = headers.get('retry-after') ?? '';
    const afterMs = Math.min(Number(header) * 1000, LONGEST_RETRY_AFTER_MS);
    const retryAfterMs = /^\d{1,9}$/.test(header) ? afterMs : undefined;
    throw new UpstreamError(status === 429 ? 'rate_limited' : 'server_error', { retryAfterMs });
  }
}

function secureAddress(address: string | URL): URL {
  const url = new URL(address);
  const isLoopback = url.protocol === 'http:' && isLoopbackHost(url.hostname);
  if (url.protocol !== 'https:' && !isLoopback) {
    throw new UpstreamError('insecure_address');
  }
  return url;
}

/** Stops requests to a failing upstream. State of one process. Times are Unix milliseconds. */
export class CircuitBreaker {
  private failures = 0;
  private openUntil = 0;

  constructor(private readonly limits: UpstreamLimits['breaker']) {}

  /** Milliseconds until a request may be sent; 0 = send now, and report the outcome. */
  waitMs(now: number): number {
    if (this.failures < this.limits.failuresToOpen) {
      return 0;
    }
    const leftMs = this.openUntil - now;
    // More than the whole time can only be left when the clock was set back.
    if (leftMs > 0 && leftMs <= this.limits.openMs) {
      return leftMs;
    }
    // Half open: one request is let through, the others wait for its outcome.
    this.openUntil = now + this.limits.openMs;
    return 0;
  }

  succeeded(): void {
    this.failures = 0;
  }

  failed(now: number): void {
    this.failures += 1;
    this.openUntil = now + this.limits.openMs;
  }
}

/**
 * Limits the rate of requests to an upstream (a token bucket). Requests beyond it are queued; those
 * that would wait too long are refused. Times are Unix milliseconds.
 */
export class RequestBudget {
  /** When the next request could be sent without a burst. */
  private nextAt = 0;

  constructor(private readonly limits: UpstreamLimits['budget']) {}

  /** Milliseconds to wait before sending, with the place reserved; null = the queue is too long. */
  reserve(now: number): number | null {
    const spacingMs = 1000 / this.limits.perSecond;
    const saved = now - (this.limits.burst - 1) * spacingMs;
    // No later place is ever reserved: the clock was set back.
    const isCredible = this.nextAt - now <= this.limits.longestWaitMs + spacingMs;
    const at = isCredible ? Math.max(this.nextAt, saved) : now;
    if (at - now > this.limits.longestWaitMs) {
      return null;
    }
    this.nextAt = at + spacingMs;
    return Math.max(0, at - now);
  }
}
