import { Agent, buildConnector } from 'undici';
import type { AttemptResult, WebhookDelivery } from './delivery.js';
import { publicLookup, refuseLiteral, type ResolveAll } from './destination-guard.js';
import { Slots } from './slots.js';
import { judgeAnswer, judgeError } from './webhook-answer.js';
import { exchange, type ExchangeLimits } from './webhook-exchange.js';
import { signatureHeaders } from './webhook-signature.js';

export interface WebhookSenderOptions {
  /** Whether to refuse hosts that are not on the public internet: for who sends for others. */
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
/** Of an answer's body, which says nothing: read so that the connection can be used again. */
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
    // An answer that comes after the event stopped to matter is as good as none.
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
