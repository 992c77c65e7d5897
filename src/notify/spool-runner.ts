import type { AttemptResult, Delivery, FailedAttempt } from './delivery.js';
import type { Senders } from './deliver.js';
import { nextAttemptAt, type RetrySchedule } from './retry-schedule.js';
import { RECEIPT_AFTER_MS } from './push-receipts.js';
import { expiryOf, receiptEntryFor, type DeliveryEntry } from './spool-entry.js';
import { keyOf, laneOf, type SpoolName } from './spool-name.js';
import { RECEIPT_LANE } from './spool-receipts.js';
import type { Claim, Spool } from './spool.js';

export interface SpoolRunnerOptions {
  readonly spool: Spool;
  readonly sendersFor: (entry: DeliveryEntry) => Senders;
  /** Gives a stored delivery its secrets back, or says why it cannot be sent. */
  readonly complete: (entry: DeliveryEntry) => Promise<Delivery | FailedAttempt>;
  readonly schedule: RetrySchedule;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Told of every try and of every delivery that is given up. */
  readonly onProgress: (progress: Progress) => void | Promise<void>;
}

/** Where a delivery stands after a try. */
export interface Progress {
  readonly entry: DeliveryEntry;
  /** Tries made by now. */
  readonly attempts: number;
  /** What the other side answered; null when nothing was sent. */
  readonly result: AttemptResult | null;
  readonly state: 'sent' | 'waiting' | 'failed' | 'dropped';
  /** Unix milliseconds of the next try; null when there is none. */
  readonly nextAt: number | null;
  readonly code: string | null;
}

type DeliveryClaim = Claim & { readonly entry: DeliveryEntry };

/** A delivery with its secrets, whose turn it is. */
interface Ready {
  readonly claim: DeliveryClaim;
  readonly delivery: Delivery;
}

const PUSH_LANE = laneOf('push');
/** The push service takes so many messages in one request. */
const PUSH_BATCH = 100;
const WEBHOOKS_AT_ONCE = 4;
/** Failures in a row after which a target is left alone for this round. */
const FAILURES_IN_A_ROW = 3;

/** Brings what is in a spool to its targets; each target on its own, so that none holds up others. */
export class SpoolRunner {
  constructor(private readonly options: SpoolRunnerOptions) {}

  /** Tries what this process has just added. `deliveries` still have their secrets. */
  async tryFirst(claims: readonly Claim[], deliveries: readonly Delivery[]): Promise<void> {
    const complete = new Map(deliveries.map((delivery) => [delivery.id, delivery]));
    const mine = claims.filter(isDelivery);
    const pushes = mine.filter(({ entry }) => entry.delivery.kind === 'push');
    const others = mine.filter((claim) => !pushes.includes(claim));
    const known = (claim: DeliveryClaim) => complete.get(claim.entry.id);
    await Promise.all([
      ...batches(pushes, PUSH_BATCH).map((batch) => this.tryClaims(batch, known)),
      ...others.map((claim) => this.tryClaims([claim], known)),
    ]);
  }

  /** Tries everything that is due once, and drops what no longer matters. */
  async round(): Promise<void> {
    await this.options.spool.tidy();
    const lanes = new Map<string, SpoolName[]>();
    for (const name of await this.options.spool.due()) {
      lanes.set(name.lane, [...(lanes.get(name.lane) ?? []), name]);
    }
    lanes.delete(RECEIPT_LANE);
    await Promise.all([...lanes].map(([lane, names]) => this.runLane(lane, names)));
  }

  /** Tries one entry now, due or not. */
  async retry(claim: Claim): Promise<void> {
    await this.tryClaims([claim].filter(isDelivery), () => undefined);
  }

  /**
   * Unix milliseconds at which the next delivery is due; null when none waits.
   *
   * @param ids of the deliveries that count; without them, all do
   */
  async nextDueAt(ids?: ReadonlySet<string>): Promise<number | null> {
    const keys = ids && new Set([...ids].map(keyOf));
    const waiting = (await this.options.spool.waiting()).filter(
      ({ lane, key }) => lane !== RECEIPT_LANE && keys?.has(key) !== false,
    );
    const times = waiting.map(({ dueAt, expiresAt, claim }) =>
      claim === null ? Math.min(dueAt, expiresAt) : this.options.now(),
    );
    return times.length === 0 ? null : Math.min(...times);
  }

  private async runLane(lane: string, names: readonly SpoolName[]): Promise<void> {
    const isPush = lane === PUSH_LANE;
    const queue = batches(names, isPush ? PUSH_BATCH : 1);
    let failures = 0;
    const work = async (): Promise<void> => {
      for (let batch = queue.shift(); batch !== undefined; batch = queue.shift()) {
        const isHeldUp = failures >= FAILURES_IN_A_ROW;
        const claims = await this.claimAll(isHeldUp ? batch.filter(this.hasExpired) : batch);
        const isStuck = await this.tryClaims(claims, () => undefined);
        failures = isStuck === false ? 0 : failures + Number(isStuck ?? 0);
      }
    };
    await Promise.all(Array.from({ length: isPush ? 1 : WEBHOOKS_AT_ONCE }, work));
  }

  private readonly hasExpired = ({ expiresAt }: SpoolName): boolean =>
    expiresAt <= this.options.now();

  private async claimAll(names: readonly SpoolName[]): Promise<DeliveryClaim[]> {
    const claims = await Promise.all(names.map((name) => this.options.spool.claim(name)));
    return claims.filter((claim) => claim !== null).filter(isDelivery);
  }

  /** @returns whether nothing arrived and another try may help; null when nothing was sent */
  private async tryClaims(
    claims: readonly DeliveryClaim[],
    known: (claim: DeliveryClaim) => Delivery | undefined,
  ): Promise<boolean | null> {
    const ready: Ready[] = [];
    for (const claim of claims) {
      const delivery = known(claim) ?? (await this.options.complete(claim.entry));
      if (expiryOf(claim.entry) <= this.options.now()) {
        await this.drop(claim);
      } else if ('kind' in delivery) {
        ready.push({ claim, delivery });
      } else {
        await this.settle(claim, delivery);
      }
    }
    const results = await this.send(ready);
    await Promise.all(ready.map(({ claim }, index) => this.settle(claim, results[index] ?? LOST)));
    return results.length === 0
      ? null
      : results.every((one) => one.state === 'failed' && one.isTemporary);
  }

  /** All of them push, or all of them webhooks, as lanes keep them apart. */
  private async send(ready: readonly Ready[]): Promise<readonly AttemptResult[]> {
    const { sendersFor } = this.options;
    const pushes = ready.map(({ delivery }) => delivery).filter((one) => one.kind === 'push');
    const [first] = ready;
    if (first !== undefined && pushes.length > 0) {
      return sendersFor(first.claim.entry).push.attempt(pushes);
    }
    return Promise.all(
      ready.flatMap(({ claim, delivery }) =>
        delivery.kind === 'webhook' ? [sendersFor(claim.entry).webhooks.attempt(delivery)] : [],
      ),
    );
  }

  private async settle(claim: DeliveryClaim, result: AttemptResult): Promise<void> {
    const { spool, now, schedule, onProgress } = this.options;
    const { entry } = claim;
    const { delivery } = entry;
    const attempts = entry.attempts + 1;
    const at = now();
    const tried: DeliveryClaim = { ...claim, entry: { ...entry, attempts } };
    if (result.state === 'sent') {
      await this.expectReceipt(entry, result, at);
      await spool.end(tried, { state: 'sent', code: null, at });
      await onProgress({ entry, attempts, result, state: 'sent', nextAt: null, code: null });
      return;
    }
    const { code, detail, isTemporary } = result;
    const planned = { ...delivery, secrets: [] };
    const nextAt = nextAttemptAt(planned, result, attempts, at, schedule);
    if (nextAt !== null) {
      await spool.putBack(claim, nextAt, { code, detail, at });
      await onProgress({ entry, attempts, result, state: 'waiting', nextAt, code });
      return;
    }
    const isTooLate = isTemporary && schedule.delaysMs.length >= attempts;
    const state = isTooLate ? 'dropped' : 'failed';
    const words = isTooLate ? `${detail} ${TOO_LATE}` : detail;
    await spool.end(tried, { state, code, detail: words, at });
    await onProgress({ entry, attempts, result, state, nextAt, code });
  }

  private async expectReceipt(
    entry: DeliveryEntry,
    { receiptId }: { readonly receiptId?: string },
    sentAt: number,
  ): Promise<void> {
    if (receiptId !== undefined && entry.delivery.kind === 'push') {
      const { token } = entry.delivery;
      const receipt = receiptEntryFor(entry, { receiptId, token, sentAt });
      await this.options.spool.keepForLater(receipt, sentAt + RECEIPT_AFTER_MS);
    }
  }

  private async drop(claim: DeliveryClaim): Promise<void> {
    const { spool, now, onProgress } = this.options;
    const { entry } = claim;
    const code = 'expired';
    await spool.end(claim, { state: 'dropped', code, detail: TOO_LATE, at: now() });
    const { attempts } = entry;
    await onProgress({ entry, attempts, result: null, state: 'dropped', nextAt: null, code });
  }
}

const TOO_LATE = 'It no longer matters by the next try, so it is not sent late.';

const LOST: FailedAttempt = {
  state: 'failed',
  code: 'no-answer',
  detail: 'The push service did not answer for this device.',
  isTemporary: true,
};

function isDelivery(claim: Claim): claim is DeliveryClaim {
  return claim.entry.kind === 'delivery';
}

function batches<Item>(items: readonly Item[], size: number): Item[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}
