import { setMaxListeners } from 'node:events';
import type { Runtime } from '../../common/runtime/runtime.js';
import type { RecheckOutcome } from './account-recheck.service.js';
import type { LeasedIdentity } from '../storage/repositories/identity-due.repository.js';

const CHECK_LIMIT_MS = 140_000;
/** Time to store the result of a check. */
const SETTLE_MS = 10_000;
/** A refresh is never aborted: it may request the provider's metadata and then the tokens. */
const REQUESTS_OF_REFRESH = 2;
/** A leased identity that cannot start within this time is released. */
const START_WITHIN_MS = 30_000;
const BATCH = 50;

/**
 * A lease is longer than any check, so that a running worker never loses it.
 * @param timeoutSeconds of one request to the provider
 */
export function leaseMsFor(timeoutSeconds: number): number {
  const longest = Math.max(CHECK_LIMIT_MS, REQUESTS_OF_REFRESH * timeoutSeconds * 1000);
  return START_WITHIN_MS + longest + SETTLE_MS;
}

/** Consecutive unanswered checks with a retry delay from the provider that pause its queue. */
const REFUSALS_TO_PAUSE = 5;
/** Limit of the pause, which may concern only some identities; each also has its own retry time. */
const LONGEST_PAUSE_MS = 15_000;

interface QueueWork {
  readonly lease: (limit: number) => Promise<LeasedIdentity[]>;
  readonly release: (identities: readonly LeasedIdentity[]) => Promise<void>;
  readonly recheck: (identity: LeasedIdentity, signal: AbortSignal) => Promise<RecheckOutcome>;
}

export interface QueueLimits {
  readonly concurrency: number;
  /** 0 = no limit. */
  readonly checksPerSecond: number;
}

interface Waiting {
  readonly identity: LeasedIdentity;
  readonly dueAt: number;
  readonly startBefore: number;
}

/** Each provider has a queue with its own workers, so that a slow one delays no others. */
export class ProviderQueue {
  private readonly workers = new Set<Promise<void>>();
  private readonly underWay = new Set<AbortController>();
  private waiting: Waiting[] = [];
  private unused: LeasedIdentity[] = [];
  private refill: Promise<void> | null = null;
  private isExhausted = false;
  private refusals = 0;
  private pausedUntil = 0;
  private nextSlotAt = 0;

  constructor(
    private readonly work: QueueWork,
    private readonly limits: QueueLimits,
    private readonly stop: AbortSignal,
    private readonly runtime: Pick<Runtime, 'clock' | 'timers'>,
  ) {
    // Each waiting worker adds a listener: more than ten are not a leak.
    setMaxListeners(0, stop);
    stop.addEventListener('abort', () => this.underWay.forEach((check) => check.abort()));
  }

  /**
   * Checks identities until none is due. A call during a run makes idle workers lease again at
   * once, so that one hanging check does not delay other due identities.
   */
  async drain(): Promise<void> {
    this.isExhausted = false;
    while (this.workers.size < this.limits.concurrency && !this.mustRest()) {
      const worker = this.checkAll().finally(() => this.workers.delete(worker));
      this.workers.add(worker);
    }
    const ended = await Promise.allSettled(this.workers);
    const failed = ended.find((end) => end.status === 'rejected');
    if (failed !== undefined) {
      throw failed.reason;
    }
  }

  private async checkAll(): Promise<void> {
    try {
      for (let next = await this.take(); next !== null; next = await this.take()) {
        await this.check(next);
      }
    } catch (error) {
      // Storage is unavailable: no result can be stored, so no further request is sent.
      this.isExhausted = true;
      this.setAside();
      throw error;
    } finally {
      await this.giveBack();
    }
  }

  private async take(): Promise<LeasedIdentity | null> {
    for (;;) {
      if (this.mustRest()) {
        this.setAside();
        return null;
      }
      const next = this.waiting.shift();
      if (next !== undefined) {
        if (await this.hasTurn(next)) {
          return next.identity;
        }
        this.unused.push(next.identity);
      } else if (this.isExhausted) {
        return null;
      } else {
        this.refill ??= this.leaseMore().finally(() => (this.refill = null));
        await this.refill;
      }
    }
  }

  private async leaseMore(): Promise<void> {
    const limit = Math.max(BATCH, this.limits.concurrency);
    const leased = await this.work.lease(limit);
    const now = this.runtime.clock.elapsed();
    const startBefore = now + START_WITHIN_MS;
    const waiting = leased.map((identity) => ({
      identity,
      dueAt: now + identity.dueInMs,
      startBefore,
    }));
    this.waiting.push(...waiting.sort((one, other) => one.dueAt - other.dueAt));
    this.isExhausted = leased.length < limit;
  }

  private async hasTurn({ dueAt, startBefore }: Waiting): Promise<boolean> {
    await this.sleepUntil(dueAt);
    const { checksPerSecond } = this.limits;
    if (checksPerSecond > 0) {
      const slot = Math.max(this.nextSlotAt, this.runtime.clock.elapsed());
      if (slot > startBefore) {
        return false;
      }
      this.nextSlotAt = slot + 1000 / checksPerSecond;
      await this.sleepUntil(slot);
    }
    return this.runtime.clock.elapsed() <= startBefore && !this.mustRest();
  }

  private async sleepUntil(time: number): Promise<void> {
    const waitMs = time - this.runtime.clock.elapsed();
    if (waitMs > 0) {
      await this.runtime.timers.sleep(waitMs, this.stop).catch(() => undefined);
    }
  }

  private async check(identity: LeasedIdentity): Promise<void> {
    const { kind, retryAfterMs = 0 } = await this.limited(identity);
    this.refusals = kind === 'unknown' && retryAfterMs > 0 ? this.refusals + 1 : 0;
    if (this.refusals >= REFUSALS_TO_PAUSE) {
      this.pausedUntil = this.runtime.clock.elapsed() + Math.min(retryAfterMs, LONGEST_PAUSE_MS);
    }
  }

  /**
   * Avoids AbortSignal.any and Timers.timeout: they outlive the check by minutes, in tens of thousands.
   */
  private async limited(identity: LeasedIdentity): Promise<RecheckOutcome> {
    const check = new AbortController();
    const limit = this.runtime.timers.after(CHECK_LIMIT_MS, () => check.abort());
    this.underWay.add(check);
    try {
      return await this.work.recheck(identity, check.signal);
    } finally {
      limit.cancel();
      this.underWay.delete(check);
    }
  }

  private mustRest(): boolean {
    return this.stop.aborted || this.runtime.clock.elapsed() < this.pausedUntil;
  }

  private setAside(): void {
    this.unused.push(...this.waiting.map(({ identity }) => identity));
    this.waiting = [];
  }

  private async giveBack(): Promise<void> {
    const given = this.unused;
    this.unused = [];
    if (given.length > 0) {
      // If the release fails, the leases expire.
      await this.work.release(given).catch(() => undefined);
    }
  }
}
