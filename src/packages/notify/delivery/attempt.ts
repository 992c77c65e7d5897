import {
  lastingFailure,
  type AttemptResult,
  type Delivery,
  type FailedAttempt,
  type PushDelivery,
  type WebhookDelivery,
  type WebPushDelivery,
} from './delivery.js';

/** The interface of `ExpoSender`, `WebPushSender` and `WebhookSender`. None may reject. */
export interface Senders {
  readonly push: {
    readonly attempt: (deliveries: readonly PushDelivery[]) => Promise<AttemptResult[]>;
  };
  /** Without it, browsers have the outcome `web-push-unavailable`. */
  readonly webPush?: { readonly attempt: (delivery: WebPushDelivery) => Promise<AttemptResult> };
  readonly webhooks: { readonly attempt: (delivery: WebhookDelivery) => Promise<AttemptResult> };
}

export interface RetrySchedule {
  /** Delays between attempts; the number of entries is the number of retries. */
  readonly delaysMs: readonly number[];
  /** Returns 0 to 1, for jitter. */
  readonly random: () => number;
}

/** For a sender that keeps running: seven attempts in about 40 minutes. */
export const RETRY_DELAYS_MS: readonly number[] = [
  1_000, 5_000, 20_000, 60_000, 300_000, 1_800_000,
];
export const DEFAULT_SCHEDULE: RetrySchedule = { delaysMs: RETRY_DELAYS_MS, random: Math.random };

/** The longest accepted `Retry-After`, so that a receiver cannot postpone a delivery for ever. */
const LONGEST_RETRY_AFTER_MS = 3_600_000;
/** The maximum addition to a delay, so that senders do not retry at the same moment. */
const JITTER = 0.25;
/** The result of a message for which the push service returned none. */
export const NO_ANSWER: FailedAttempt = {
  state: 'failed',
  code: 'no-answer',
  detail: 'The push service did not answer for this device.',
  isTemporary: true,
};
const NO_WEB_PUSH = lastingFailure('web-push-unavailable', 'This sender does not reach browsers.');

/** Attempts one delivery, or messages that share a request to the push service of apps. */
export async function attemptBatch(
  batch: readonly Delivery[],
  { push, webPush, webhooks }: Senders,
): Promise<readonly AttemptResult[]> {
  const [first] = batch;
  switch (first?.kind) {
    case 'webhook':
      return [await webhooks.attempt(first)];
    case 'web-push':
      return [(await webPush?.attempt(first)) ?? NO_WEB_PUSH];
    case 'push':
      return push.attempt(batch.filter((one) => one.kind === 'push'));
    case undefined:
      return [];
  }
}

export function batchesOf<One>(items: readonly One[], size: number): One[][] {
  const batches: One[][] = [];
  for (let at = 0; at < items.length; at += size) {
    batches.push(items.slice(at, at + size));
  }
  return batches;
}

/**
 * Returns the time of the next attempt; null if it was sent, failed for good or has none left.
 * @param attempts number of attempts, including that of `result`
 */
export function nextAttemptAt(
  { expiresAt }: Pick<Delivery, 'expiresAt'>,
  result: AttemptResult,
  attempts: number,
  now: number,
  { delaysMs, random }: RetrySchedule,
): number | null {
  const delayMs = delaysMs[attempts - 1];
  if (result.state === 'sent' || !result.isTemporary || delayMs === undefined) {
    return null;
  }
  const retryAfterMs = Math.min(result.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
  const at = now + Math.ceil(Math.max(delayMs, retryAfterMs) * (1 + JITTER * random()));
  return at < expiresAt ? at : null;
}
