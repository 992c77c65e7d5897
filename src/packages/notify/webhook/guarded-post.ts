import type { IncomingHttpHeaders } from 'node:http';
import { Agent, buildConnector, EnvHttpProxyAgent, type Dispatcher } from 'undici';
import { isProxyConfigured } from '../environment.js';
import { DestinationGuard, DestinationRefused, type ResolveAll } from './destination-guard.js';
import { poolWithoutContinue } from './interim-responses.js';
import type { WebhookAnswer } from './webhook-answer.js';

export interface GuardedPostOptions {
  /**
   * Hosts outside the public internet that this sender connects to: names, addresses and networks
   * (`10.0.0.0/8`); `*` = all. Default: none, because accounts choose the addresses.
   */
  readonly privateHosts?: readonly string[];
  /**
   * True for a sender that serves several accounts: `privateHosts` does not count, and no proxy is
   * used, which would look hosts up without the check of their addresses.
   */
  readonly denyPrivate?: boolean;
  /**
   * Milliseconds for one request, from the look-up to the answer's headers. Default 10 s
   * (contract).
   */
  readonly timeoutMs?: number;
  /** PEM of the certificate authorities to trust instead of the system's. */
  readonly ca?: string;
  /** Resolves names. */
  readonly resolve?: ResolveAll;
}

const TIMEOUT_MS = 10_000;
/** Further requests wait, because undici scans all connections for every request. */
const CONNECTIONS_PER_ORIGIN = 64;
/** Bytes of an answer's body that are read even if unused, so that the connection can be reused. */
const MAX_ANSWER_BYTES = 16 * 1024;

export interface PostRequest {
  readonly method?: 'POST' | 'PATCH';
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
  /** Milliseconds for this request, if fewer than those of the options. */
  readonly timeoutMs?: number;
  /** True if the result waits for the answer's body, up to 16 KiB. */
  readonly readsBody?: boolean;
}

/** Posts to addresses that accounts choose, without redirects, over its own connections. */
export class GuardedPost {
  private readonly agent: Dispatcher;
  private readonly guard: DestinationGuard;
  private readonly timeoutMs: number;

  /** @throws TypeError for an entry of `privateHosts` that is no host */
  constructor({
    timeoutMs = TIMEOUT_MS,
    denyPrivate = false,
    privateHosts = [],
    ca,
    resolve,
  }: GuardedPostOptions) {
    this.timeoutMs = timeoutMs;
    this.guard = new DestinationGuard(denyPrivate ? [] : privateHosts, resolve);
    const { lookup } = this.guard;
    const limits = {
      connect: buildConnector({ timeout: timeoutMs, lookup, ...(ca !== undefined && { ca }) }),
      connections: CONNECTIONS_PER_ORIGIN,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      factory: poolWithoutContinue,
    };
    // The agent for proxies reads its variables for each request.
    this.agent =
      denyPrivate || !isProxyConfigured()
        ? new Agent(limits)
        : new EnvHttpProxyAgent({ ...limits, ...throughProxy(timeoutMs, ca) });
  }

  /** Rejects with {@link DestinationRefused}, {@link ExchangeTimeout} or the error of the connection. */
  async send(request: PostRequest): Promise<WebhookAnswer> {
    // A socket performs no look-up for an address, and a proxy performs its own.
    const url = new URL(request.url);
    if (this.guard.refuses(url.hostname)) {
      throw new DestinationRefused();
    }
    const timeoutMs = Math.min(this.timeoutMs, request.timeoutMs ?? Infinity);
    const { headers, body, method = 'POST', readsBody = false } = request;
    const path = `${url.pathname}${url.search}`;
    // A stream and a signal for each attempt would cost more than the rest.
    return new Promise((resolve, reject) => {
      const limits = { timeoutMs, maxAnswerBytes: MAX_ANSWER_BYTES, readsBody };
      const handler = new HeadHandler(resolve, reject, limits);
      this.agent.dispatch({ origin: url.origin, path, method, headers, body }, handler);
    });
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }
}

/** Options of {@link EnvHttpProxyAgent} for connections to and through the proxy. */
export function throughProxy(timeout: number, ca?: string) {
  const requestTls = { timeout, ...(ca !== undefined && { ca }) };
  return { proxyTunnel: false, proxyTls: { timeout }, requestTls };
}

interface ExchangeLimits {
  /** Milliseconds for the whole exchange, including the connect. */
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
  readonly readsBody: boolean;
}

export class ExchangeTimeout extends Error {
  override readonly name = 'ExchangeTimeout';
  readonly code = 'ETIMEDOUT';
}

class HeadHandler implements Dispatcher.DispatchHandler {
  private readonly timer: NodeJS.Timeout;
  private controller: Dispatcher.DispatchController | null = null;
  private readonly chunks: Buffer[] | null;
  private head: WebhookAnswer | null = null;
  private bytesLeft: number;
  private isLate = false;

  constructor(
    private readonly resolve: (answer: WebhookAnswer) => void,
    private readonly reject: (reason: Error) => void,
    { timeoutMs, maxAnswerBytes, readsBody }: ExchangeLimits,
  ) {
    this.bytesLeft = maxAnswerBytes;
    this.chunks = readsBody ? [] : null;
    this.timer = setTimeout(() => this.expire(), timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.isLate) {
      controller.abort(new ExchangeTimeout());
    }
  }

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    if (status >= 200) {
      this.head = { status, headers };
      if (this.chunks === null) {
        this.resolve(this.head);
      }
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.chunks?.push(chunk);
    this.bytesLeft -= chunk.length;
    if (this.bytesLeft < 0) {
      controller.abort(new Error('The response body exceeds the limit.'));
    }
  }

  onResponseEnd(): void {
    clearTimeout(this.timer);
    if (this.head !== null && this.chunks !== null) {
      this.resolve({ ...this.head, body: Buffer.concat(this.chunks).toString() });
    }
  }

  onResponseError(_controller: unknown, error: Error): void {
    clearTimeout(this.timer);
    this.fail(error);
  }

  /** Without a connection the request is aborted when its turn comes. */
  private expire(): void {
    this.isLate = true;
    this.fail(new ExchangeTimeout());
    this.controller?.abort(new ExchangeTimeout());
  }

  /** An accepted delivery stays accepted, even if its body fails. */
  private fail(error: Error): void {
    if (this.head === null) {
      this.reject(error);
    } else {
      this.resolve(this.head);
    }
  }
}
