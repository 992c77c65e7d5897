import type { AttemptResult, WebhookDelivery } from '../delivery/delivery.js';
import { Slots } from '../delivery/slots.js';
import { GuardedPost, type GuardedPostOptions, type PostRequest } from './guarded-post.js';
import { EXPIRED, judgeAnswer, judgeError, messageIdIn } from './webhook-answer.js';
import { signatureHeaders } from './webhook-signature.js';

export interface WebhookSenderOptions extends GuardedPostOptions {
  /** Number of concurrent attempts. */
  readonly concurrency?: number;
  readonly now?: () => number;
}

const CONCURRENCY = 256;
/** The message to replace was deleted, so that nothing remains to do. */
const NOT_FOUND = 404;

/** Sends webhooks over its own connections. Close it, or its connections keep the process alive. */
export class WebhookSender {
  private readonly http: GuardedPost;
  private readonly slots: Slots;
  private readonly now: () => number;

  constructor(options: WebhookSenderOptions = {}) {
    this.now = options.now ?? Date.now;
    this.slots = new Slots(options.concurrency ?? CONCURRENCY);
    this.http = new GuardedPost(options);
  }

  /** Makes one attempt with a new signature over the exact bytes. Never rejects. */
  attempt(delivery: WebhookDelivery): Promise<AttemptResult> {
    return this.slots.run(() => this.send(delivery));
  }

  close(): Promise<void> {
    return this.http.close();
  }

  private async send(delivery: WebhookDelivery): Promise<AttemptResult> {
    const startedAt = this.now();
    if (startedAt >= delivery.expiresAt) {
      return EXPIRED;
    }
    try {
      const answer = await this.http.send(requestOf(delivery, startedAt));
      if (delivery.replaces !== undefined && answer.status === NOT_FOUND) {
        return { state: 'sent' };
      }
      const result = judgeAnswer(answer, this.now());
      const messageId = messageIdIn(answer);
      return messageId === null || result.state === 'failed' ? result : { ...result, messageId };
    } catch (error) {
      return judgeError(error);
    }
  }
}

function requestOf(delivery: WebhookDelivery, now: number): PostRequest {
  const { id, url, body: text, secrets, expiresAt, isReplaceable, replaces } = delivery;
  const body = Buffer.from(text);
  const timestamp = Math.floor(now / 1000);
  return {
    method: replaces === undefined ? 'POST' : 'PATCH',
    url,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'gatehouse',
      ...signatureHeaders({ id, timestamp, rawBody: body }, secrets),
    },
    body,
    // An answer after the event has expired does not count.
    timeoutMs: expiresAt - now,
    readsBody: isReplaceable === true,
  };
}
