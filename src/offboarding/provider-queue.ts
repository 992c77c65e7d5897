import { setMaxListeners } from 'node:events';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RecheckOutcome } from './account-recheck.js';
import type { LeasedIdentity } from '../storage/repositories/identity-due.repository.js';

const CHECK_LIMIT_MS = 140_000;
/** For what is stored when a check ends. */
const SETTLE_MS = 10_000;
/** A refresh is not cut short: it may ask the provider for its endpoints, and then for tokens. */
const REQUESTS_OF_REFRESH = 2;
/** A leased identity whose turn comes later than this is given back. */
const START_WITHIN_MS = 30_000;
const BATCH = 50;

/**
 * Longer than a check may take, so that a living worker never loses a lease.
 *
 * @param timeoutSeconds for one request to the provider
 */
export function leaseMsFor(timeoutSeconds: number): number {
  const longest = Math.max(CHECK_LIMIT_MS, REQUESTS_OF_REFRESH * timeoutSeconds * 1000);
  return START_WITHIN_MS + longest + SETTLE_MS;
}

/** Unanswered checks in a row, with the provider asking to be left alone, that pause its queue. */
const REFUSALS_TO_PAUSE = 5;
/** The pause may be about some identities only, so it is short; each waits for its own time too. */
const LONGEST_PAUSE_MS = 15_000;

/** What a queue does its work with; times are those of a clock that never jumps. */
export interface QueueWork {
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

/**
 * The identities of one provider that are due. A queue has its own workers, so that a slow provider
 * delays no other identities.
 */
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
  ) {
    // Each worker that waits for its turn listens: more than ten of them are no leak.
    setMaxListeners(0, stop);
    stop.addEventListener('abort', () => this.underWay.forEach((check) => check.abort()));
  }

  /**
   * Checks what is due until nothing is. Called while that goes on, it looks again at once with the
   * workers that have nothing to do: one check that hangs does not hold up what became due since.
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
      // Storage is away: nothing can be kept, so nothing more is asked.
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
    const now = performance.now();
    const startBefore = now + START_WITHIN_MS;
    const waiting = leased.map((identity) => ({
      identity,
      dueAt: now + identity.dueInMs,
      startBefore,
    }));
    this.waiting.push(...waiting.sort((one, other) => one.dueAt - other.dueAt));
    this.isExhausted = leased.length < limit;
  }

  /** Waits until the identity is due, and for a place in the rate that the provider is asked at. */
  private async hasTurn({ dueAt, startBefore }: Waiting): Promise<boolean> {
    await this.sleepUntil(dueAt);
    const { checksPerSecond } = this.limits;
    if (checksPerSecond > 0) {
      const slot = Math.max(this.nextSlotAt, performance.now());
      if (slot > startBefore) {
        return false;
      }
      this.nextSlotAt = slot + 1000 / checksPerSecond;
      await this.sleepUntil(slot);
    }
    return performance.now() <= startBefore && !this.mustRest();
  }

  private async sleepUntil(time: number): Promise<void> {
    const waitMs = time - performance.now();
    if (waitMs > 0) {
      await sleep(waitMs, undefined, { signal: this.stop }).catch(() => undefined);
    }
  }

  private async check(identity: LeasedIdentity): Promise<void> {
    const { kind, retryAfterMs = 0 } = await this.limited(identity);
    this.refusals = kind === 'unknown' && retryAfterMs > 0 ? this.refusals + 1 : 0;
    if (this.refusals >= REFUSALS_TO_PAUSE) {
      this.pausedUntil = performance.now() + Math.min(retryAfterMs, LONGEST_PAUSE_MS);
    }
  }

  /** Not AbortSignal.any and .timeout: they outlive the check, by minutes and tens of thousands. */
  private async limited(identity: LeasedIdentity): Promise<RecheckOutcome> {
    const check = new AbortController();
    const timer = setTimeout(() => check.abort(), CHECK_LIMIT_MS);
    this.underWay.add(check);
    try {
      return await this.work.recheck(identity, check.signal);
    } finally {
      clearTimeout(timer);
      this.underWay.delete(check);
    }
  }

  private mustRest(): boolean {
    return this.stop.aborted || performance.now() < this.pausedUntil;
  }

  private setAside(): void {
    this.unused.push(...this.waiting.map(({ identity }) => identity));
    this.waiting = [];
  }

  private async giveBack(): Promise<void> {
    const given = this.unused;
    this.unused = [];
    if (given.length > 0) {
      // Should it fail, the leases run out by themselves.
      await this.work.release(given).catch(() => undefined);
    }
  }
}
