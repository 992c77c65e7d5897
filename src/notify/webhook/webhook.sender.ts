import type { IncomingHttpHeaders } from 'node:http';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import type { AttemptResult, WebhookDelivery } from '../delivery/delivery.js';
import { publicLookup, refuseLiteral, type ResolveAll } from './destination-guard.js';
import { Slots } from '../delivery/slots.js';
import { judgeAnswer, judgeError, type WebhookAnswer } from './webhook-answer.js';
import { signatureHeaders } from './webhook-signature.js';

export interface WebhookSenderOptions {
  /** Whether to refuse hosts that are not on the public internet: for a sender that serves others. */
  readonly denyPrivate?: boolean;
  /** For one try, from the look-up to the answer's headers. Default 10 s (contract). */
  readonly timeoutMs?: number;
  /** Tries at once. */
  readonly concurrency?: number;
  /** PEM of the certificate authorities to trust in place of the system's. */
  readonly ca?: string;
  readonly now?: () => number;
  /** How names become addresses where `denyPrivate` is on. */
  readonly resolve?: ResolveAll;
}

const TIMEOUT_MS = 10_000;
const CONCURRENCY = 256;
/** Of an answer's body, which is not used: read so that the connection can be used again. */
const MAX_ANSWER_BYTES = 16 * 1024;

const EXPIRED: AttemptResult = {
  state: 'failed',
  code: 'expired',
  detail: 'It no longer mattered when its turn came, so it was not sent.',
  isTemporary: true,
};

/** Sends webhooks over connections of its own. Close it, or they keep the process alive. */
export class WebhookSender {
  private readonly agent: Agent;
  private readonly slots: Slots;
  private readonly limits: ExchangeLimits;
  private readonly now: () => number;

  constructor(options: WebhookSenderOptions = {}) {
    const { timeoutMs = TIMEOUT_MS } = options;
    this.limits = { timeoutMs, maxAnswerBytes: MAX_ANSWER_BYTES };
    this.now = options.now ?? Date.now;
    this.slots = new Slots(options.concurrency ?? CONCURRENCY);
    this.agent = new Agent({
      connect: connectorFor(options, timeoutMs),
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
  }

  /** One try, signed afresh over the exact bytes sent. Never rejects. */
  attempt(delivery: WebhookDelivery): Promise<AttemptResult> {
    return this.slots.run(() => this.send(delivery).catch(judgeError));
  }

  /** Cuts what is still open. */
  close(): Promise<void> {
    return this.agent.destroy();
  }

  private async send(delivery: WebhookDelivery): Promise<AttemptResult> {
    const { id, url, body, secrets, expiresAt } = delivery;
    const startedAt = this.now();
    if (startedAt >= expiresAt) {
      return EXPIRED;
    }
    const rawBody = Buffer.from(body);
    const timestamp = Math.floor(startedAt / 1000);
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'gatehouse',
      ...signatureHeaders({ id, timestamp, rawBody }, secrets),
    };
    const { maxAnswerBytes } = this.limits;
    // An answer after the event has expired does not count.
    const timeoutMs = Math.min(this.limits.timeoutMs, expiresAt - startedAt);
    const limits = { timeoutMs, maxAnswerBytes };
    const answer = await exchange(this.agent, { url, headers, body: rawBody }, limits);
    return judgeAnswer(answer, this.now());
  }
}

function connectorFor(
  { denyPrivate = false, ca, resolve }: WebhookSenderOptions,
  timeoutMs: number,
): buildConnector.connector {
  const trust = ca === undefined ? {} : { ca };
  if (!denyPrivate) {
    return buildConnector({ timeout: timeoutMs, ...trust });
  }
  const connect = buildConnector({ timeout: timeoutMs, ...trust, lookup: publicLookup(resolve) });
  return (options, callback) => {
    try {
      // A socket asks no look-up for a host that is an address already.
      refuseLiteral(options.hostname);
    } catch (error) {
      callback(error as Error, null);
      return;
    }
    connect(options, callback);
  };
}

interface WebhookPost {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

interface ExchangeLimits {
  /** For the whole exchange, connecting included. */
  readonly timeoutMs: number;
  /** Of the answer's body, which is read so that the connection can be used again. */
  readonly maxAnswerBytes: number;
}

/** Nothing came in time. */
class ExchangeTimeout extends Error {
  override readonly name = 'ExchangeTimeout';
  readonly code = 'ETIMEDOUT';
}

/**
 * One POST, followed nowhere; resolves with the head of the answer as soon as it is there. Talks to
 * the dispatcher itself, because a stream and a signal for each try would cost more than the rest.
 *
 * @throws ExchangeTimeout, and whatever the dispatcher fails with
 */
function exchange(
  dispatcher: Dispatcher,
  { url, headers, body }: WebhookPost,
  limits: ExchangeLimits,
): Promise<WebhookAnswer> {
  return new Promise((resolve, reject) => {
    const { origin, pathname, search } = new URL(url);
    const handler = new HeadHandler(resolve, reject, limits);
    const path = `${pathname}${search}`;
    dispatcher.dispatch({ origin, path, method: 'POST', headers, body }, handler);
  });
}

class HeadHandler implements Dispatcher.DispatchHandler {
  private readonly timer: NodeJS.Timeout;
  private controller: Dispatcher.DispatchController | null = null;
  private bytesLeft: number;
  private isLate = false;

  constructor(
    private readonly resolve: (answer: WebhookAnswer) => void,
    private readonly reject: (reason: Error) => void,
    { timeoutMs, maxAnswerBytes }: ExchangeLimits,
  ) {
    this.bytesLeft = maxAnswerBytes;
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
      this.resolve({ status, headers });
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, { length }: Buffer): void {
    this.bytesLeft -= length;
    if (this.bytesLeft < 0) {
      controller.abort(new Error('The response body exceeds the limit.'));
    }
  }

  onResponseEnd(): void {
    clearTimeout(this.timer);
  }

  onResponseError(_controller: unknown, error: Error): void {
    clearTimeout(this.timer);
    this.reject(error);
  }

  /** Before a connection is there nothing can be aborted: the request is, once its turn comes. */
  private expire(): void {
    this.isLate = true;
    this.reject(new ExchangeTimeout());
    this.controller?.abort(new ExchangeTimeout());
  }
}
