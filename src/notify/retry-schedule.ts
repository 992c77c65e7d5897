import type { AttemptResult, Delivery } from './delivery.js';

export interface RetrySchedule {
  /** Waits between one try and the next; as many retries as there are entries. */
  readonly delaysMs: readonly number[];
  /** 0 to 1, for jitter. */
  readonly random: () => number;
}

/** For a sender that stays: seven tries within about 40 minutes, which outlives every ttl but one. */
export const RETRY_DELAYS_MS: readonly number[] = [
  1_000, 5_000, 20_000, 60_000, 300_000, 1_800_000,
];

/** What a receiver may ask for at most, so that it cannot put a delivery off for good. */
const LONGEST_RETRY_AFTER_MS = 3_600_000;
/** Up to this share of a wait is added, so that senders which failed together come back apart. */
const JITTER = 0.25;

/**
 * When to try again (Unix milliseconds); null = never: it was sent, it will not get better, the
 * tries are used up, or the event no longer matters by then.
 *
 * @param attempts tries made, the one that had this `result` included
 */
export function nextAttemptAt(
  delivery: Delivery,
  result: AttemptResult,
  attempts: number,
  now: number,
  { delaysMs, random }: RetrySchedule,
): number | null {
  const delayMs = delaysMs[attempts - 1];
  if (result.state === 'sent' || !result.isTemporary || delayMs === undefined) {
    return null;
  }
  const askedMs = Math.min(result.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
  const at = now + Math.ceil(Math.max(delayMs, askedMs) * (1 + JITTER * random()));
  return at < delivery.expiresAt ? at : null;
}
