import type { AttemptResult, WebhookDelivery } from '../delivery/delivery.js';
import { Slots } from '../delivery/slots.js';
import { GuardedPost, type GuardedPostOptions } from './guarded-post.js';
import { EXPIRED, judgeAnswer, judgeError, messageIdIn } from './webhook-answer.js';
import { signatureHeaders } from './webhook-signature.js';

export interface WebhookSenderOptions extends GuardedPostOptions {
  /** Tries at once. */
  readonly concurrency?: number;
  readonly now?: () => number;
}

const CONCURRENCY = 256;
/** Of a message to be replaced: it was deleted, and asks nothing any more. */
const NOT_FOUND = 404;

/** Sends webhooks over connections of its own. Close it, or they keep the process alive. */
export class WebhookSender {
  private readonly http: GuardedPost;
  private readonly slots: Slots;
  private readonly now: () => number;

  constructor(options: WebhookSenderOptions = {}) {
    this.now = options.now ?? Date.now;
    this.slots = new Slots(options.concurrency ?? CONCURRENCY);
    this.http = new GuardedPost(options);
  }

  /** One try, signed afresh over the exact bytes sent. Never rejects. */
  attempt(delivery: WebhookDelivery): Promise<AttemptResult> {
    return this.slots.run(() => this.send(delivery).catch(judgeError));
  }

  /** Cuts what is still open. */
  close(): Promise<void> {
    return this.http.close();
  }

  private async send(delivery: WebhookDelivery): Promise<AttemptResult> {
    const { id, url, body, secrets, expiresAt, isReplaceable, replaces } = delivery;
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
    // An answer after the event has expired does not count.
    const timeoutMs = expiresAt - startedAt;
    const method = replaces === undefined ? 'POST' : 'PATCH';
    const request = { method, url, headers, body: rawBody, timeoutMs } as const;
    const answer = await this.http.send({ ...request, readsBody: isReplaceable === true });
    if (replaces !== undefined && answer.status === NOT_FOUND) {
      return { state: 'sent' };
    }
    const result = judgeAnswer(answer, this.now());
    const messageId = messageIdIn(answer);
    return messageId === null || result.state === 'failed' ? result : { ...result, messageId };
  }
}
