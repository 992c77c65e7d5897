import { setTimeout as wait } from 'node:timers/promises';
import type {
  AttemptResult,
  Delivery,
  FailedAttempt,
  PushDelivery,
  StoredDelivery,
  WebhookDelivery,
  WebPushDelivery,
} from './delivery.js';
import type { SentTicket } from '../push/push-results.js';

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

export interface SendersByEntry<Entry> {
  readonly of: (entry: Entry) => Senders;
}

export interface QueuedDelivery {
  readonly attempts: number;
  readonly delivery: StoredDelivery;
}

/** The exclusive right of one process to attempt a delivery. */
export interface DeliveryClaim {
  readonly entry: QueuedDelivery;
}

/** The reason why an entry has ended. `dropped` = discarded before a final failure. */
export interface Ending {
  readonly state: 'sent' | 'failed' | 'dropped';
  /** The code of the failure, for programs; null = sent. */
  readonly code: string | null;
  /** The reason for a person. */
  readonly detail?: string;
  readonly messageId?: string;
  /** Unix milliseconds. */
  readonly at: number;
}

export interface LastError {
  readonly code: string;
  readonly detail: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Deliveries to one target, which are attempted independently of other targets. */
export interface TargetQueue<Item> {
  /** True if several share a request: those through the push service of apps. */
  readonly isBatched: boolean;
  readonly items: readonly Item[];
}

/** Stores deliveries between attempts: in memory for the library, in files for the command line. */
export interface DeliveryStore<
  Claim extends DeliveryClaim = DeliveryClaim,
  Item extends { readonly expiresAt: number } = { readonly expiresAt: number },
> {
  /** Messages in one request to the push service. */
  readonly pushBatchSize: number;
  /** Called before each round. */
  tidy(): Promise<void>;
  /** Returns the targets with due or expired deliveries. */
  dueByTarget(): Promise<readonly TargetQueue<Item>[]>;
  /** Returns null if another process has claimed it. */
  claimDelivery(item: Item): Promise<Claim | null>;
  /** Returns true if the delivery's request was answered, so that it is dropped. */
  isResolved(entry: Claim['entry']): Promise<boolean>;
  /** Stores the result of a delivery that needs no further attempt. */
  end(claim: Claim, ending: Ending, attempts: number): Promise<void>;
  /** Schedules the next attempt at `dueAt` (Unix milliseconds). */
  putBack(claim: Claim, dueAt: number, lastError: LastError): Promise<void>;
  /** Stores the ticket of an accepted push, whose receipt is requested later. */
  expectReceipt(entry: Claim['entry'], ticket: SentTicket): Promise<void>;
  /** @param ids of the relevant deliveries; default: all */
  nextRoundAt(ids?: ReadonlySet<string>): Promise<number | null>;
}

export interface DeliveryEngineOptions<Entry extends QueuedDelivery> {
  readonly senders: SendersByEntry<Entry>;
  /** Returns the delivery with its current secrets, or the reason why it cannot be sent. */
  readonly complete: (entry: Entry) => Delivery | FailedAttempt | Promise<Delivery | FailedAttempt>;
  readonly schedule: RetrySchedule;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Called after each attempt, and for each dropped delivery. */
  readonly onProgress: (progress: Progress<Entry>) => void | Promise<void>;
}

export interface Progress<Entry extends QueuedDelivery = QueuedDelivery> {
  readonly entry: Entry;
  readonly attempts: number;
  /** null = nothing was sent. */
  readonly result: AttemptResult | null;
  readonly state: 'sent' | 'waiting' | 'failed' | 'dropped';
  /** Unix milliseconds of the next attempt; null = none. */
  readonly nextAt: number | null;
  readonly code: string | null;
}

export interface DrainOptions {
  /** Ids of the deliveries to wait for; undefined = all. */
  readonly ids?: ReadonlySet<string> | undefined;
  /** Ends the waits between attempts; a running attempt is finished. */
  readonly signal?: AbortSignal | undefined;
  readonly beforeRound?: () => void | Promise<void>;
}

/** For a sender that keeps running: seven attempts in about 40 minutes. */
export const RETRY_DELAYS_MS: readonly number[] = [
  1_000, 5_000, 20_000, 60_000, 300_000, 1_800_000,
];

/** The longest accepted `Retry-After`, so that a receiver cannot postpone a delivery for ever. */
const LONGEST_RETRY_AFTER_MS = 3_600_000;
/** The maximum addition to a delay, so that senders do not retry at the same moment. */
const JITTER = 0.25;

/** Concurrent attempts for one target without batches. */
const TARGET_CONCURRENCY = 4;
/** Consecutive failures after which a target is skipped for the rest of the round. */
const FAILURES_IN_A_ROW = 3;
const TOO_LATE = 'It no longer matters by the next try, so it is not sent late.';
const RESOLVED = 'The request was answered.';
const NO_ANSWER: FailedAttempt = {
  state: 'failed',
  code: 'no-answer',
  detail: 'The push service did not answer for this device.',
  isTemporary: true,
};
const NO_WEB_PUSH: FailedAttempt = {
  state: 'failed',
  code: 'web-push-unavailable',
  detail: 'This sender does not reach browsers.',
  isTemporary: false,
};

/** Sends the deliveries of a store, each target independently of the others. */
export class DeliveryEngine<Claim extends DeliveryClaim, Item extends { expiresAt: number }> {
  constructor(
    private readonly store: DeliveryStore<Claim, Item>,
    private readonly options: DeliveryEngineOptions<Claim['entry']>,
  ) {}

  /** Waits for due deliveries and attempts them, until nothing waits. */
  async drain({ ids, signal, beforeRound }: DrainOptions = {}): Promise<void> {
    for (;;) {
      const at = await this.store.nextRoundAt(ids);
      if (at === null || !(await passed(at - this.options.now(), signal))) {
        return;
      }
      await beforeRound?.();
      await this.round();
    }
  }

  /** Attempts each due delivery once, and drops expired ones. */
  async round(): Promise<void> {
    await this.store.tidy();
    const targets = await this.store.dueByTarget();
    await Promise.all(targets.map((target) => this.attemptTarget(target)));
  }

  /** @param complete deliveries that still contain their secrets */
  async attemptNow(claims: readonly Claim[], complete?: readonly Delivery[]): Promise<void> {
    const known = complete && new Map(complete.map((delivery) => [delivery.id, delivery]));
    const pushes = claims.filter(({ entry }) => entry.delivery.kind === 'push');
    const others = claims.filter(({ entry }) => entry.delivery.kind !== 'push');
    const batches = [...this.batchesOf(true, pushes), ...this.batchesOf(false, others)];
    await Promise.all(batches.map((batch) => this.attemptClaims(batch, known)));
  }

  private async attemptTarget({ isBatched, items }: TargetQueue<Item>): Promise<void> {
    const queue = this.batchesOf(isBatched, items);
    let failures = 0;
    const work = async (): Promise<void> => {
      for (let batch = queue.shift(); batch !== undefined; batch = queue.shift()) {
        const isSkipped = failures >= FAILURES_IN_A_ROW;
        const chosen = isSkipped ? batch.filter((item) => this.hasExpired(item)) : batch;
        const claims = await Promise.all(chosen.map((item) => this.store.claimDelivery(item)));
        const hasFailed = await this.attemptClaims(claims.filter((claim) => claim !== null));
        failures = hasFailed === false ? 0 : failures + Number(hasFailed ?? 0);
      }
    };
    await Promise.all(Array.from({ length: isBatched ? 1 : TARGET_CONCURRENCY }, work));
  }

  private batchesOf<One>(isBatched: boolean, items: readonly One[]): One[][] {
    return batchesOf(items, isBatched ? this.store.pushBatchSize : 1);
  }

  private hasExpired({ expiresAt }: { readonly expiresAt: number }): boolean {
    return expiresAt <= this.options.now();
  }

  /** @returns true if all failed temporarily; null if nothing was sent */
  async attemptClaims(
    claims: readonly Claim[],
    known?: ReadonlyMap<string, Delivery>,
  ): Promise<boolean | null> {
    const ready: Claim[] = [];
    const deliveries: Delivery[] = [];
    for (const claim of claims) {
      const { entry } = claim;
      const delivery = known?.get(entry.delivery.id) ?? (await this.options.complete(entry));
      if (this.hasExpired(entry.delivery)) {
        await this.drop(claim, 'expired', TOO_LATE);
      } else if (await this.store.isResolved(entry)) {
        await this.drop(claim, 'resolved', RESOLVED);
      } else if ('kind' in delivery) {
        ready.push(claim);
        deliveries.push(delivery);
      } else {
        await this.settle(claim, delivery);
      }
    }
    const [first] = ready;
    if (first === undefined) {
      return null;
    }
    const results = await attemptBatch(deliveries, this.options.senders.of(first.entry));
    await Promise.all(ready.map((claim, index) => this.settle(claim, results[index] ?? NO_ANSWER)));
    return results.every((one) => one.state === 'failed' && one.isTemporary);
  }

  async settle(claim: Claim, result: AttemptResult): Promise<void> {
    const { now, schedule, onProgress } = this.options;
    const { entry } = claim;
    const attempts = entry.attempts + 1;
    const at = now();
    if (result.state === 'sent') {
      const { delivery } = entry;
      const { messageId } = result;
      if (result.receiptId !== undefined && delivery.kind === 'push') {
        const ticket = { receiptId: result.receiptId, token: delivery.token, sentAt: at };
        await this.store.expectReceipt(entry, ticket);
      }
      const named = messageId === undefined ? {} : { messageId };
      await this.store.end(claim, { state: 'sent', code: null, at, ...named }, attempts);
      await onProgress({ entry, attempts, result, state: 'sent', nextAt: null, code: null });
      return;
    }
    const { code, detail, isTemporary } = result;
    const nextAt = nextAttemptAt(entry.delivery, result, attempts, at, schedule);
    if (nextAt !== null) {
      await this.store.putBack(claim, nextAt, { code, detail, at });
      await onProgress({ entry, attempts, result, state: 'waiting', nextAt, code });
      return;
    }
    const isTooLate = isTemporary && schedule.delaysMs.length >= attempts;
    const state = isTooLate ? 'dropped' : 'failed';
    const why = isTooLate ? `${detail} ${TOO_LATE}` : detail;
    await this.store.end(claim, { state, code, detail: why, at }, attempts);
    await onProgress({ entry, attempts, result, state, nextAt, code });
  }

  private async drop(claim: Claim, code: string, detail: string): Promise<void> {
    const { now, onProgress } = this.options;
    const { entry } = claim;
    const { attempts } = entry;
    const ending: Ending = { state: 'dropped', code, detail, at: now() };
    await this.store.end(claim, ending, attempts);
    await onProgress({ entry, attempts, result: null, state: 'dropped', nextAt: null, code });
  }
}

export function batchesOf<One>(items: readonly One[], size: number): One[][] {
  const batches: One[][] = [];
  for (let at = 0; at < items.length; at += size) {
    batches.push(items.slice(at, at + size));
  }
  return batches;
}

/** A batch is one delivery, or messages for one request to the push service of apps. */
async function attemptBatch(
  batch: readonly Delivery[],
  senders: Senders,
): Promise<readonly AttemptResult[]> {
  const [first] = batch;
  return first === undefined || first.kind === 'push'
    ? senders.push.attempt(batch.filter((one) => one.kind === 'push'))
    : [await attemptAlone(first, senders)];
}

/** Attempts a delivery that has a request of its own. */
export function attemptAlone(
  delivery: WebhookDelivery | WebPushDelivery,
  { webPush, webhooks }: Senders,
): Promise<AttemptResult> {
  if (delivery.kind === 'webhook') {
    return webhooks.attempt(delivery);
  }
  return webPush?.attempt(delivery) ?? Promise.resolve(NO_WEB_PUSH);
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

/** Returns true if the time passed, false if the signal ended the wait. */
async function passed(ms: number, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await wait(Math.max(0, ms), undefined, signal === undefined ? {} : { signal });
    return true;
  } catch {
    return false;
  }
}
