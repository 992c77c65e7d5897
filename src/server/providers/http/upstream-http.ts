import * as v from 'valibot';
import { AppError } from '../../../common/errors.js';
import { readBounded } from '../../../common/read-bounded.js';
import { readRetryAfter } from '../../../common/retry-after.js';
import type { Runtime } from '../../../common/runtime/runtime.js';
import { tracing } from '../../../common/trace.js';
import { isLoopbackHost } from '../../../core/policy/flow/return-address.js';
import { upstreamAddressRefused } from './upstream-addresses.js';
import type { UpstreamConnectionsService } from './upstream-connections.service.js';

export interface UpstreamLimits {
  /** For content that is itself signed. Default: https, and http on loopback. */
  readonly acceptsPlainHttp?: boolean;
  /**
   * The issuer whose document names the address: it must not make this server reach a private host
   * or speak plain http, unless the issuer itself is there.
   */
  readonly issuer?: string;
  /** For an address that a stranger names: no host of a private network is reached. */
  readonly isPublicOnly?: true;
  /** For the whole request, from the queue to the last byte of the body. */
  readonly timeoutMs: number;
  /** Bytes of a response body, decompressed. */
  readonly maxBytes: number;
  readonly budget: {
    readonly perSecond: number;
    /** Requests that may be sent simultaneously after a pause. */
    readonly burst: number;
    readonly longestWaitMs: number;
  };
  readonly breaker: {
    readonly failuresToOpen: number;
    /** Time that the circuit stays open, in ms; then one request tests the upstream. */
    readonly openMs: number;
  };
}

export interface UpstreamRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: RequestInit['body'];
  readonly signal?: AbortSignal | null | undefined;
}

/** These are for operators, and never part of an answer. */
export const UPSTREAM_FAILURES = {
  aborted: 'the request was given up',
  bad_discovery: 'its discovery document is missing, or not that of the configured issuer',
  circuit_open: 'the requests before failed, so it is left alone for some seconds',
  connection_refused: 'it refuses the connection',
  dns_error: 'its host name is not resolved',
  groups_refused: 'it does not let this server read the groups of people',
  insecure_address:
    'its address is not https, or is in a private network although its issuer is not',
  invalid_client: 'it refuses the client id or the client secret of this server',
  network_error: 'the connection failed',
  organization_missing:
    'it shows no organisation with the name or id of the rules: it may have been renamed',
  proxy_error: 'the proxy (HTTPS_PROXY, HTTP_PROXY) does not let the request through',
  rate_limited: 'it limits the rate of requests',
  server_error: 'it answers with a server error',
  service_account_refused: 'it refuses the service account that reads users and groups',
  timeout: 'it does not answer in time',
  tls_error: 'its certificate, or how it speaks TLS, is not accepted',
  too_large: 'its answer is too large',
  unexpected_answer: 'its answer does not follow the protocol',
} as const;

export type UpstreamFailure = keyof typeof UPSTREAM_FAILURES;

/** Failures that only the operator can resolve. */
export const OPERATOR_FAILURES: readonly string[] = [
  'groups_refused',
  'invalid_client',
  'organization_missing',
  'service_account_refused',
] satisfies UpstreamFailure[];

interface UpstreamErrorOptions extends ErrorOptions {
  readonly retryAfterMs?: number | undefined;
  /** An error code, or what is at the address of a discovery document; for the log. */
  readonly detail?: string | undefined;
}

/** Never quotes the response, but for the issuer of a discovery document. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly retryAfterMs: number | undefined;
  readonly detail: string | undefined;

  constructor(
    readonly failure: UpstreamFailure,
    options: UpstreamErrorOptions = {},
  ) {
    const { detail, retryAfterMs } = options;
    super(`The upstream failed: ${failure}${detail === undefined ? '' : ` (${detail})`}`, options);
    this.retryAfterMs = retryAfterMs;
    this.detail = detail;
  }
}

/** Searches the causes of the error, too. */
export function upstreamErrorIn(error: unknown): UpstreamError | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof UpstreamError) {
      return current;
    }
  }
  return undefined;
}

/** The refusal of a request that has to be repeated when the upstream answers again. */
export function unavailableBecause(error: UpstreamError): AppError {
  const retryAfterSeconds = Math.ceil((error.retryAfterMs ?? 2000) / 1000);
  return new AppError('unavailable', { retryAfterSeconds }, { cause: error });
}

const BODILESS = [204, 205, 304];
const LONGEST_RETRY_AFTER_MS = 60 * 60 * 1000;

export const DEFAULT_UPSTREAM_LIMITS: UpstreamLimits = {
  timeoutMs: 30_000,
  maxBytes: 1024 * 1024,
  budget: { perSecond: 50, burst: 100, longestWaitMs: 5_000 },
  breaker: { failuresToOpen: 8, openMs: 15_000 },
};

/** Limits time, size and rate. Redirects are never followed (ASVS 15.3.2), bodies never logged. */
export class UpstreamHttp {
  private readonly budget: RequestBudget;
  private readonly breaker: CircuitBreaker;

  constructor(
    private readonly runtime: Runtime,
    private readonly connections: UpstreamConnectionsService,
    private readonly limits: UpstreamLimits = DEFAULT_UPSTREAM_LIMITS,
  ) {
    this.budget = new RequestBudget(limits.budget);
    this.breaker = new CircuitBreaker(limits.breaker);
  }

  /** @throws UpstreamError, also for 429 and every 5xx, which do not answer the request */
  async fetch(address: string | URL, request: UpstreamRequest = {}): Promise<Response> {
    const { acceptsPlainHttp = false, issuer } = this.limits;
    const url = secureAddress(address, acceptsPlainHttp, issuer);
    const timeout = this.runtime.timers.timeout(this.limits.timeoutMs);
    const signal = request.signal ? AbortSignal.any([timeout, request.signal]) : timeout;
    const openMs = this.breaker.waitMs(this.runtime.clock.now());
    if (openMs > 0) {
      throw new UpstreamError('circuit_open', { retryAfterMs: openMs });
    }
    try {
      await this.waitForBudget(signal);
      const response = await this.send(url, request, signal);
      refuseOutage(response, this.runtime.clock.now());
      this.breaker.succeeded();
      return response;
    } catch (error) {
      throw this.failureOf(error, timeout, request.signal);
    }
  }

  private async waitForBudget(signal: AbortSignal): Promise<void> {
    const waitMs = this.budget.reserve(this.runtime.clock.now());
    if (waitMs === null) {
      const retryAfterMs = this.limits.budget.longestWaitMs;
      throw new UpstreamError('rate_limited', { retryAfterMs });
    }
    if (waitMs > 0) {
      await this.runtime.timers.sleep(waitMs, signal);
    }
  }

  private send(url: URL, request: UpstreamRequest, signal: AbortSignal): Promise<Response> {
    const traces = tracing();
    const { method = 'GET', headers = {}, body = null } = request;
    // Omits path and query, which contain user names and authorization codes.
    const attributes = { 'http.request.method': method, 'server.address': url.hostname };
    const work = { name: `${method} ${url.hostname}`, kind: 'client', attributes } as const;
    const send = async (): Promise<Response> => {
      const init = { method, headers, body, signal, redirect: 'manual' } as const;
      const response = await this.connections.fetch(url, init, this.limits);
      const tooLarge = (): Error => new UpstreamError('too_large');
      const bytes = await readBounded(response.body ?? [], this.limits.maxBytes, tooLarge);
      const { status } = response;
      traces?.note({ 'http.response.status_code': status });
      const kept = BODILESS.includes(status) ? null : bytes;
      return new Response(kept, { status, headers: [...response.headers] });
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
    const isTimeout = timeout.aborted || isTimeoutOf(caller);
    if (caller?.aborted === true && !isTimeout) {
      return new UpstreamError('aborted', { cause: error });
    }
    this.breaker.failed(this.runtime.clock.now());
    if (error instanceof UpstreamError) {
      return error;
    }
    if (upstreamAddressRefused(error)) {
      return new UpstreamError('insecure_address', { cause: error });
    }
    return isTimeout ? new UpstreamError('timeout', { cause: error }) : networkFailure(error);
  }
}

/** openid-client uses the same timeout, and its timer starts first. */
function isTimeoutOf(caller: AbortSignal | null | undefined): boolean {
  return caller?.aborted === true && (caller.reason as Error | undefined)?.name === 'TimeoutError';
}

/** Codes of Node.js and undici; those of OpenSSL's verification are in the documentation of `tls`. */
const NETWORK_FAILURES: readonly (readonly [UpstreamFailure, RegExp])[] = [
  ['dns_error', /^(ENOTFOUND|EAI_[A-Z]+)$/],
  ['connection_refused', /^ECONNREFUSED$/],
  // A refused CONNECT, a request for credentials, or a proxy whose certificate is not accepted.
  ['proxy_error', /^UND_ERR_(ABORTED|INVALID_ARG|PRX_TLS)$/],
  ['timeout', /^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/],
  [
    'tls_error',
    /^(ERR_(TLS|SSL)_|EPROTO$|(CERT|CRL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERROR_IN)_|INVALID_(CA|PURPOSE)$|PATH_LENGTH_|HOSTNAME_)/,
  ],
];

function networkFailure(error: unknown): UpstreamError {
  const code = innermost(error, 'code') ?? '';
  const [failure] = NETWORK_FAILURES.find(([, codes]) => codes.test(code)) ?? ['network_error'];
  return new UpstreamError(failure, { cause: error, ...(code !== '' && { detail: code }) });
}

/** Returns a text of the innermost cause that has it; null = none has. */
export function innermost(error: unknown, name: 'code' | 'claim'): string | null {
  let text: string | null = null;
  for (let current = error; typeof current === 'object' && current !== null;) {
    const { [name]: own, cause } = current as Readonly<Record<string, unknown>>;
    text = typeof own === 'string' ? own : text;
    current = cause;
  }
  return text;
}

/** @throws UpstreamError `unexpected_answer` for a body of another form */
export async function readJson<Schema extends v.GenericSchema>(
  response: Response,
  schema: Schema,
): Promise<v.InferOutput<Schema>> {
  const parsed = v.safeParse(schema, await response.json().catch(() => undefined));
  if (!parsed.success) {
    // No cause, because the errors of both parsers quote the body.
    throw new UpstreamError('unexpected_answer');
  }
  return parsed.output;
}

/** `Retry-After` counts for an hour at most. */
function refuseOutage({ status, headers }: Response, now: number): void {
  if (status === 429 || status >= 500) {
    const afterMs = readRetryAfter(headers.get('retry-after'), now);
    const retryAfterMs =
      afterMs === undefined ? undefined : Math.min(afterMs, LONGEST_RETRY_AFTER_MS);
    throw new UpstreamError(status === 429 ? 'rate_limited' : 'server_error', { retryAfterMs });
  }
}

function secureAddress(
  address: string | URL,
  acceptsPlainHttp: boolean,
  issuer: string | undefined,
): URL {
  const url = new URL(address);
  const isOfPlainIssuer = issuer === undefined || new URL(issuer).protocol === 'http:';
  const isAccepted = acceptsPlainHttp || (isLoopbackHost(url.hostname) && isOfPlainIssuer);
  if (url.protocol !== 'https:' && (url.protocol !== 'http:' || !isAccepted)) {
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
    // A longer remaining time is only possible after the clock was set back.
    if (leftMs > 0 && leftMs <= this.limits.openMs) {
      return leftMs;
    }
    // Half open: one request is sent, and the others wait for its outcome.
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

/** A token bucket: requests beyond it are queued; those that would wait too long are refused. */
export class RequestBudget {
  /** Time at which the next request could be sent without a burst. */
  private nextAt = 0;

  constructor(private readonly limits: UpstreamLimits['budget']) {}

  /** Reserves a slot. @returns the milliseconds to wait for it; null = the queue is too long */
  reserve(now: number): number | null {
    const spacingMs = 1000 / this.limits.perSecond;
    const saved = now - (this.limits.burst - 1) * spacingMs;
    // A later slot is never reserved, so the clock was set back.
    const isCredible = this.nextAt - now <= this.limits.longestWaitMs + spacingMs;
    const at = isCredible ? Math.max(this.nextAt, saved) : now;
    if (at - now > this.limits.longestWaitMs) {
      return null;
    }
    this.nextAt = at + spacingMs;
    return Math.max(0, at - now);
  }
}
