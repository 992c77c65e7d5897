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

/** `ExpoSender`, `WebPushSender` and `WebhookSender`, or what does as they do. None may reject. */
export interface Senders {
  readonly push: {
    readonly attempt: (deliveries: readonly PushDelivery[]) => Promise<AttemptResult[]>;
  };
  /** Without it, browsers are not reached, and that is the outcome of each. */
  readonly webPush?: {
    readonly attempt: (delivery: WebPushDelivery) => Promise<AttemptResult>;
  };
  readonly webhooks: {
    readonly attempt: (delivery: WebhookDelivery) => Promise<AttemptResult>;
  };
}

export interface RetrySchedule {
  /** Waits between one try and the next; as many retries as there are entries. */
  readonly delaysMs: readonly number[];
  /** 0 to 1, for jitter. */
  readonly random: () => number;
}

/** A delivery in a store, with the tries made so far. */
export interface QueuedDelivery {
  readonly attempts: number;
  readonly delivery: StoredDelivery;
}

/** The right to try a delivery, for one process. */
export interface DeliveryClaim {
  readonly entry: QueuedDelivery;
}

/** Why an entry needs no further try. `dropped` = it was given up before it failed for good. */
export interface Ending {
  readonly state: 'sent' | 'failed' | 'dropped';
  /** What happened, for programs; null when it was sent. */
  readonly code: string | null;
  /** The same for a person. */
  readonly detail?: string;
  /** Of a chat's message that was sent. */
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

/** Deliveries to one target, which are tried apart from those to others. */
export interface Lane<Item> {
  /** Whether several go in one request: those through the push service of apps. */
  readonly isBatched: boolean;
  readonly items: readonly Item[];
}

/** Where deliveries wait between tries: memory for the library, files for the command line. */
export interface DeliveryStore<
  Claim extends DeliveryClaim = DeliveryClaim,
  Item extends { readonly expiresAt: number } = { readonly expiresAt: number },
> {
  /** Messages in one request to the push service. */
  readonly pushBatchSize: number;
  /** Called before every round. */
  tidy(): Promise<void>;
  /** What may be tried now or has expired. */
  dueLanes(): Promise<readonly Lane<Item>[]>;
  /** Null when another process has it. */
  claimDelivery(item: Item): Promise<Claim | null>;
  /** The delivery needs no further try. */
  end(claim: Claim, ending: Ending, attempts: number): Promise<void>;
  /** The delivery is tried again at `dueAt` (Unix milliseconds). */
  putBack(claim: Claim, dueAt: number, lastError: LastError): Promise<void>;
  /** A push was accepted; its receipt can be asked for later. */
  expectReceipt(entry: Claim['entry'], ticket: SentTicket): Promise<void>;
  /**
   * Unix milliseconds of the next round; null when nothing waits.
   *
   * @param ids of the deliveries that count; without them, all do
   */
  nextRoundAt(ids?: ReadonlySet<string>): Promise<number | null>;
}

export interface DeliveryEngineOptions<Entry extends QueuedDelivery> {
  readonly sendersFor: (entry: Entry) => Senders;
  /** Whether the request of a delivery was answered: then it is dropped instead of sent. */
  readonly isResolved?: (entry: Entry) => Promise<boolean>;
  /** The delivery as it is to be sent now, secrets included, or why it cannot be. */
  readonly complete: (entry: Entry) => Delivery | FailedAttempt | Promise<Delivery | FailedAttempt>;
  readonly schedule: RetrySchedule;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Called after every try and for every delivery that is given up. */
  readonly onProgress: (progress: Progress<Entry>) => void | Promise<void>;
}

/** The state of a delivery after a try. */
export interface Progress<Entry extends QueuedDelivery = QueuedDelivery> {
  readonly entry: Entry;
  /** Tries made by now. */
  readonly attempts: number;
  /** What the other side answered; null when nothing was sent. */
  readonly result: AttemptResult | null;
  readonly state: 'sent' | 'waiting' | 'failed' | 'dropped';
  /** Unix milliseconds of the next try; null when there is none. */
  readonly nextAt: number | null;
  readonly code: string | null;
}

export interface DrainOptions {
  /** Of the deliveries to wait for; without them, for all. */
  readonly ids?: ReadonlySet<string> | undefined;
  /** Ends the waits between tries; a try under way is finished. */
  readonly signal?: AbortSignal | undefined;
  readonly beforeRound?: () => void | Promise<void>;
}

/** For a sender that stays: seven tries within about 40 minutes, which outlives every ttl but one. */
export const RETRY_DELAYS_MS: readonly number[] = [
  1_000, 5_000, 20_000, 60_000, 300_000, 1_800_000,
];

/** What a receiver may ask for at most, so that it cannot put a delivery off for good. */
const LONGEST_RETRY_AFTER_MS = 3_600_000;
/** Up to this share of a wait is added, so that senders which failed together do not retry together. */
const JITTER = 0.25;

/** Tries at once in one lane whose deliveries go one by one. */
const LANE_CONCURRENCY = 4;
/** Failures in a row after which a target is not tried any more in this round. */
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

/** Brings the deliveries of a store to their targets, each target apart from the others. */
export class DeliveryEngine<Claim extends DeliveryClaim, Item extends { expiresAt: number }> {
  constructor(
    private readonly store: DeliveryStore<Claim, Item>,
    private readonly options: DeliveryEngineOptions<Claim['entry']>,
  ) {}

  /** Waits for what is due and tries it, until nothing waits any more. */
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

  /** Tries everything that is due once, and drops what no longer matters. */
  async round(): Promise<void> {
    await this.store.tidy();
    const lanes = await this.store.dueLanes();
    await Promise.all(lanes.map((lane) => this.runLane(lane)));
  }

  /**
   * Tries claimed deliveries now, due or not.
   *
   * @param complete those that still have their secrets
   */
  async tryNow(claims: readonly Claim[], complete?: readonly Delivery[]): Promise<void> {
    const known = complete && new Map(complete.map((delivery) => [delivery.id, delivery]));
    const pushes = claims.filter(({ entry }) => entry.delivery.kind === 'push');
    const others = claims.filter(({ entry }) => entry.delivery.kind !== 'push');
    const batches = [...this.batchesOf(true, pushes), ...this.batchesOf(false, others)];
    await Promise.all(batches.map((batch) => this.tryBatch(batch, known)));
  }

  private async runLane({ isBatched, items }: Lane<Item>): Promise<void> {
    const queue = this.batchesOf(isBatched, items);
    let failures = 0;
    const work = async (): Promise<void> => {
      for (let batch = queue.shift(); batch !== undefined; batch = queue.shift()) {
        const isHeldUp = failures >= FAILURES_IN_A_ROW;
        const chosen = isHeldUp ? batch.filter((item) => this.hasExpired(item)) : batch;
        const claims = await Promise.all(chosen.map((item) => this.store.claimDelivery(item)));
        const isStuck = await this.tryBatch(claims.filter((claim) => claim !== null));
        failures = isStuck === false ? 0 : failures + Number(isStuck ?? 0);
      }
    };
    await Promise.all(Array.from({ length: isBatched ? 1 : LANE_CONCURRENCY }, work));
  }

  private batchesOf<One>(isBatched: boolean, items: readonly One[]): One[][] {
    return batchesOf(items, isBatched ? this.store.pushBatchSize : 1);
  }

  private hasExpired({ expiresAt }: { readonly expiresAt: number }): boolean {
    return expiresAt <= this.options.now();
  }

  /**
   * Tries one delivery, or messages in one request to the push service of apps, due or not.
   *
   * @returns whether nothing arrived and another try may help; null when nothing was sent
   */
  async tryBatch(
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
      } else if ((await this.options.isResolved?.(entry)) === true) {
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
    const results = await attemptBatch(deliveries, this.options.sendersFor(first.entry));
    await Promise.all(ready.map((claim, index) => this.settle(claim, results[index] ?? NO_ANSWER)));
    return results.every((one) => one.state === 'failed' && one.isTemporary);
  }

  /** Keeps what a try means: the delivery has ended, or is tried again. */
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

/** The items in their order, at most `size` in a batch. */
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

/** One try of a delivery that goes in a request of its own. */
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
 * When to try again (Unix milliseconds); null = never: it was sent, it will not get better, the
 * tries are used up, or the event no longer matters by then.
 *
 * @param attempts tries made, the one that had this `result` included
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
  const askedMs = Math.min(result.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
  const at = now + Math.ceil(Math.max(delayMs, askedMs) * (1 + JITTER * random()));
  return at < expiresAt ? at : null;
}

/** Whether the time passed in full; false when the signal ended it. */
async function passed(ms: number, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await wait(Math.max(0, ms), undefined, signal === undefined ? {} : { signal });
    return true;
  } catch {
    return false;
  }
}
