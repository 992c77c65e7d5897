import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { toAppError } from '../http/error.filter.js';
import { AppError, isUnavailable } from '../../common/errors.js';
import { Runtime } from '../../common/runtime/runtime.js';
import type { Timer } from '../../common/runtime/timers.js';
import { updatesConfig, type UpdatesSettings } from '../config/updates.config.js';
import { RetrySpread } from './retry-spread.js';

/** Per turn of the event loop: about 3 ms, which is the additional delay of a request. */
const PER_TURN = 16;
/** Concurrent requests to storage, whose answers arrive together. */
const MAX_ASKING = 32;
/** A connection that has not authenticated by 3 s is closed without a reason. */
const LONGEST_CONNECT_WAIT_MS = 2000;
/** Socket.IO's clients give up after 20 s, and common proxies after 15 s. */
const LONGEST_UPGRADE_WAIT_MS = 12_000;
const OVERDUE_CHECK_MS = 500;
/** Delay before storage that did not answer is used again. */
const PAUSE_MS = 1000;

interface Step {
  readonly enteredAtMs: number;
  readonly refuse: (refusal: AppError) => void;
}

interface WaitingStep extends Step {
  readonly begin: () => void;
}

/**
 * Admits a few handshakes at a time, so that thousands leave capacity for requests. The HTTP
 * request and the CONNECT packet both wait here; the latter, whose connection is open, comes first.
 * The number of waiting steps is limited; while storage is unavailable, it is zero.
 */
@Injectable()
export class HandshakeQueueService implements OnApplicationShutdown {
  private readonly upgrades = new Set<WaitingStep>();
  private readonly connects = new Set<WaitingStep>();
  /** Steps that wait for storage; true if the client has been refused meanwhile. */
  private readonly asking = new Map<Step, boolean>();
  private readonly spread = new RetrySpread();
  private startedThisTurn = 0;
  private pausedUntilMs = 0;
  private overdueCheck: Timer | null = null;

  constructor(
    @Inject(updatesConfig.KEY) private readonly config: UpdatesSettings,
    private readonly runtime: Runtime,
  ) {}

  /** The refusal of a handshake that arrives now; null when it may enter. */
  refusalNow(): AppError | null {
    return this.hasSpace() ? null : this.refusal();
  }

  /**
   * Waits for the turn of an HTTP request; returns synchronously if it may start at once.
   * @throws AppError (or rejects with it) `unavailable`
   */
  turn(): undefined | Promise<void> {
    if (this.isTurnOf(this.upgrades)) {
      this.countStarted();
      return undefined;
    }
    return new Promise((begin, refuse) => this.wait(this.upgrades, { begin, refuse }));
  }

  /**
   * Waits for the turn of a CONNECT packet, then calls `ask`; synchronously if both can start.
   * @throws AppError (or rejects with it) `unavailable`, also when storage does not answer in time;
   * or the error of `ask`
   */
  ask<Answer>(ask: () => Answer | Promise<Answer>): Answer | Promise<Answer> {
    if (this.isTurnOf(this.connects)) {
      this.countStarted();
      try {
        return this.answerOf(ask, this.runtime.clock.elapsed());
      } catch (error) {
        throw this.refusalFor(error);
      }
    }
    return new Promise((resolve, refuse) => {
      const enteredAtMs = this.runtime.clock.elapsed();
      const begin = (): void => {
        try {
          resolve(this.answerOf(ask, enteredAtMs));
        } catch (error) {
          refuse(this.refusalFor(error));
        }
      };
      this.wait(this.connects, { begin, refuse });
    });
  }

  /** The refusal of a client. Where storage cannot answer, the waiting clients are refused as well. */
  refusalFor(error: unknown): AppError {
    const refusal = toAppError(error);
    if (!isUnavailable(refusal) || refusal.extras.retryAfterSeconds !== undefined) {
      return refusal;
    }
    this.pause();
    return this.refusal(refusal);
  }

  onApplicationShutdown(): void {
    this.stopChecking();
  }

  private hasSpace(): boolean {
    const isFull = this.waiting >= this.config.maxWaitingHandshakes;
    return !isFull && this.runtime.clock.elapsed() >= this.pausedUntilMs;
  }

  private get waiting(): number {
    return this.upgrades.size + this.connects.size;
  }

  /** True if a step may start at once. @throws AppError `unavailable` when it may not even wait */
  private isTurnOf(queue: Set<WaitingStep>): boolean {
    if (!this.hasSpace()) {
      throw this.refusal();
    }
    return this.waiting === 0 && this.mayStart(queue);
  }

  private wait(queue: Set<WaitingStep>, step: Omit<WaitingStep, 'enteredAtMs'>): void {
    queue.add({ ...step, enteredAtMs: this.runtime.clock.elapsed() });
    this.checkOverdue();
    // Handshakes that occupied the queue may have been refused.
    this.beginNext();
  }

  private mayStart(queue: Set<WaitingStep>): boolean {
    const hasCapacity = queue === this.upgrades || this.asking.size < MAX_ASKING;
    return hasCapacity && this.startedThisTurn < PER_TURN;
  }

  private countStarted(): void {
    if (this.startedThisTurn === 0) {
      this.runtime.timers.inNextTurn(() => {
        this.startedThisTurn = 0;
        this.beginNext();
      });
    }
    this.startedThisTurn += 1;
  }

  private beginNext(): void {
    for (;;) {
      const queue = this.connects.size > 0 ? this.connects : this.upgrades;
      const [step] = queue;
      if (step === undefined || !this.mayStart(queue)) {
        return;
      }
      queue.delete(step);
      this.countStarted();
      step.begin();
    }
  }

  private answerOf<Answer>(
    ask: () => Answer | Promise<Answer>,
    enteredAtMs: number,
  ): Answer | Promise<Answer> {
    const answer = ask();
    return answer instanceof Promise ? this.inTime(answer, enteredAtMs) : answer;
  }

  /** Counts a request until storage answers, and refuses its client after the time limit. */
  private inTime<Answer>(answer: Promise<Answer>, enteredAtMs: number): Promise<Answer> {
    return new Promise((resolve, refuse) => {
      const step = { enteredAtMs, refuse };
      this.asking.set(step, false);
      this.checkOverdue();
      const fail = (error: unknown): void => refuse(this.refusalFor(error));
      void answer.then(resolve, fail).then(() => {
        this.asking.delete(step);
        this.beginNext();
      });
    });
  }

  private checkOverdue(): void {
    this.overdueCheck ??= this.runtime.timers.every(OVERDUE_CHECK_MS, () => this.refuseOverdue());
  }

  /** Pauses requests to storage; no client waits meanwhile. */
  private pause(): void {
    this.pausedUntilMs = this.runtime.clock.elapsed() + PAUSE_MS;
    for (const queue of [this.connects, this.upgrades]) {
      const steps = [...queue];
      queue.clear();
      steps.forEach((step) => step.refuse(this.refusal()));
    }
  }

  private refuseOverdue(): void {
    const now = this.runtime.clock.elapsed();
    for (const [step, isRefused] of this.asking) {
      if (step.enteredAtMs < now - LONGEST_CONNECT_WAIT_MS && !isRefused) {
        this.asking.set(step, true);
        step.refuse(this.refusalFor(new AppError('unavailable')));
      }
    }
    this.refuseBefore(now - LONGEST_CONNECT_WAIT_MS, this.connects);
    this.refuseBefore(now - LONGEST_UPGRADE_WAIT_MS, this.upgrades);
    if (this.waiting + this.asking.size === 0) {
      this.stopChecking();
    }
  }

  private refuseBefore(atMs: number, queue: Set<WaitingStep>): void {
    for (const step of queue) {
      // The steps are in the order of their entry.
      if (step.enteredAtMs >= atMs) {
        return;
      }
      queue.delete(step);
      step.refuse(this.refusal());
    }
  }

  private stopChecking(): void {
    this.overdueCheck?.cancel();
    this.overdueCheck = null;
  }

  private refusal(cause?: AppError): AppError {
    const { clock, random } = this.runtime;
    const retryAfterSeconds = this.spread.next(clock.elapsed(), random.fraction());
    return new AppError('unavailable', { retryAfterSeconds }, { cause });
  }
}
