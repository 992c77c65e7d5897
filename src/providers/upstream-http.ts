import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../common/clock.js';
import { tracing } from '../common/trace.js';
import { isLoopbackHost } from '../policy/return-address.js';
import { CircuitBreaker, type CircuitBreakerLimits } from './circuit-breaker.js';
import { RequestBudget, type RequestBudgetLimits } from './request-budget.js';
import { readCapped } from './response-body.js';
import { retryAfterMs } from './retry-after.js';
import { UpstreamError } from './upstream-error.js';

export interface UpstreamLimits {
  /** For the whole request, the time in line and the last byte of the body included. */
  readonly timeoutMs: number;
  /** Bytes of an answer's body, decompressed. */
  readonly maxBytes: number;
  readonly budget: RequestBudgetLimits;
  readonly breaker: CircuitBreakerLimits;
}

export interface UpstreamRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: RequestInit['body'];
  readonly signal?: AbortSignal | null | undefined;
}

const BODILESS = [204, 205, 304];

export const DEFAULT_UPSTREAM_LIMITS: UpstreamLimits = {
  timeoutMs: 30_000,
  maxBytes: 1024 * 1024,
  budget: { perSecond: 50, burst: 100, longestWaitMs: 5_000 },
  breaker: { failuresToOpen: 8, openMs: 15_000 },
};

/**
 * The only door to one upstream: https (http on a loopback host), limits of time and size, redirects
 * handed back and never followed (ASVS 15.3.2), a budget of requests and a circuit breaker. Bodies
 * are never logged nor put into an error.
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
   * The answer with its body already here. @throws UpstreamError, also for 429 and every 5xx: they
   * say nothing about what was asked
   */
  async fetch(address: string | URL, request: UpstreamRequest = {}): Promise<Response> {
    const url = secureAddress(address);
    const timeout = AbortSignal.timeout(this.limits.timeoutMs);
    const signal = request.signal ? AbortSignal.any([timeout, request.signal]) : timeout;
    this.refuseWhileOpen();
    try {
      await this.standInLine(signal);
      const response = await this.sendTraced(url, request, signal);
      refuseOutage(response);
      this.breaker.succeeded();
      return response;
    } catch (error) {
      throw this.failureOf(error, timeout, request.signal);
    }
  }

  private refuseWhileOpen(): void {
    const retryAfterMs = this.breaker.waitMs(this.clock.now());
    if (retryAfterMs > 0) {
      throw new UpstreamError('circuit_open', { retryAfterMs });
    }
  }

  private async standInLine(signal: AbortSignal): Promise<void> {
    const waitMs = this.budget.reserve(this.clock.now());
    if (waitMs === null) {
      const retryAfterMs = this.limits.budget.longestWaitMs;
      throw new UpstreamError('rate_limited', { retryAfterMs });
    }
    if (waitMs > 0) {
      await sleep(waitMs, undefined, { signal });
    }
  }

  private sendTraced(url: URL, request: UpstreamRequest, signal: AbortSignal): Promise<Response> {
    const traces = tracing();
    const { method = 'GET' } = request;
    // No path and no query: they name people, and carry codes.
    const attributes = { 'http.request.method': method, 'server.address': url.hostname };
    const work = { name: `${method} ${url.hostname}`, kind: 'client', attributes } as const;
    const send = async (): Promise<Response> => {
      const response = await this.send(url, request, signal);
      traces?.note({ 'http.response.status_code': response.status });
      return response;
    };
    return traces === null ? send() : traces.run(work, send);
  }

  private async send(url: URL, request: UpstreamRequest, signal: AbortSignal): Promise<Response> {
    const { method = 'GET', headers = {}, body = null } = request;
    const response = await fetch(url, { method, headers, body, signal, redirect: 'manual' });
    const bytes = await readCapped(response, this.limits.maxBytes);
    const { status } = response;
    const kept = BODILESS.includes(status) ? null : bytes;
    return new Response(kept, { status, headers: response.headers });
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
    if (error instanceof UpstreamError) {
      return error;
    }
    return new UpstreamError(timeout.aborted ? 'timeout' : 'network_error', { cause: error });
  }
}

function refuseOutage(response: Response): void {
  if (response.status === 429 || response.status >= 500) {
    const failure = response.status === 429 ? 'rate_limited' : 'server_error';
    throw new UpstreamError(failure, { retryAfterMs: retryAfterMs(response) });
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
