import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { toAppError } from '../common/error.filter.js';
import { AppError, isUnavailable } from '../common/errors.js';
import { updatesConfig } from '../config/updates.config.js';
import { RetrySpread } from './retry-spread.js';

/** Begun in one turn of the event loop: some 3 ms, which is all that a request then waits longer. */
const PER_TURN = 16;
/** Ask storage at the same time: their answers arrive together. */
const MAX_ASKING = 32;
/** A connection that has not authenticated by 3 s is closed without a reason. */
const LONGEST_WAIT_MS = 2000;
const OVERDUE_CHECK_MS = 500;
/** Storage that could not answer is asked again after that time. */
const PAUSE_MS = 1000;

interface Step {
  readonly enteredAtMs: number;
  readonly begin: (step: Step) => void;
  readonly refuse: (refusal: AppError) => void;
}

/**
 * Lets handshakes in a few at a time, so that thousands that come at once leave room for requests.
 * Both steps of a handshake wait here: the HTTP request, and the CONNECT packet, which goes first
 * because its connection is open already. How many wait is bounded; while storage cannot answer, none do.
 */
@Injectable()
export class HandshakeQueue implements OnApplicationShutdown {
  private readonly upgrades = new Set<Step>();
  private readonly connects = new Set<Step>();
  /** Each with whether its client has been refused meanwhile. */
  private readonly asking = new Map<Step, boolean>();
  private readonly spread = new RetrySpread();
  private begunThisTurn = 0;
  private pausedUntilMs = 0;
  private overdueCheck: NodeJS.Timeout | null = null;

  constructor(
    @Inject(updatesConfig.KEY) private readonly config: ConfigType<typeof updatesConfig>,
  ) {}

  /** What a handshake that comes now is refused with; null when it may enter. */
  refusalNow(): AppError | null {
    return this.hasRoom() ? null : this.refusal();
  }

  /**
   * Waits for the turn of an HTTP request.
   *
   * @throws AppError `unavailable`
   */
  turn(): Promise<void> {
    return new Promise((resolve, refuse) =>
      this.enter(this.upgrades, { begin: () => resolve(), refuse }),
    );
  }

  /**
   * Waits for the turn of a CONNECT packet, then asks storage about it.
   *
   * @throws AppError `unavailable`, also when storage does not answer in time; or what `ask` throws
   */
  ask<Answer>(ask: () => Answer | Promise<Answer>): Promise<Answer> {
    return new Promise((resolve, refuse) => {
      const fail = (error: unknown): void => refuse(this.refusalFor(error));
      const begin = (step: Step): void => {
        try {
          const answer = ask();
          if (answer instanceof Promise) {
            this.awaitAnswer(step, answer.then(resolve, fail));
          } else {
            resolve(answer);
          }
        } catch (error) {
          fail(error);
        }
      };
      this.enter(this.connects, { begin, refuse });
    });
  }

  /** What a client is refused with; where storage cannot answer, the others are refused as well. */
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

  private hasRoom(): boolean {
    const isFull = this.waiting >= this.config.maxWaitingHandshakes;
    return !isFull && performance.now() >= this.pausedUntilMs;
  }

  private get waiting(): number {
    return this.upgrades.size + this.connects.size;
  }

  private enter(queue: Set<Step>, { begin, refuse }: Omit<Step, 'enteredAtMs'>): void {
    if (!this.hasRoom()) {
      refuse(this.refusal());
      return;
    }
    const step = { begin, refuse, enteredAtMs: performance.now() };
    if (this.waiting === 0 && this.mayBegin(queue)) {
      this.begin(step);
    } else {
      queue.add(step);
      this.checkOverdue();
      // Those that kept the others waiting may have been refused.
      this.beginNext();
    }
  }

  private mayBegin(queue: Set<Step>): boolean {
    const isAsked = queue === this.upgrades || this.asking.size < MAX_ASKING;
    return isAsked && this.begunThisTurn < PER_TURN;
  }

  private begin(step: Step): void {
    if (this.begunThisTurn === 0) {
      setImmediate(() => {
        this.begunThisTurn = 0;
        this.beginNext();
      });
    }
    this.begunThisTurn += 1;
    step.begin(step);
  }

  private beginNext(): void {
    for (;;) {
      const queue = this.connects.size > 0 ? this.connects : this.upgrades;
      const [step] = queue;
      if (step === undefined || !this.mayBegin(queue)) {
        return;
      }
      queue.delete(step);
      this.begin(step);
    }
  }

  /** @param answered settles when storage has answered, and never rejects */
  private awaitAnswer(step: Step, answered: Promise<void>): void {
    this.asking.set(step, false);
    this.checkOverdue();
    void answered.then(() => {
      this.asking.delete(step);
      this.beginNext();
    });
  }

  private checkOverdue(): void {
    this.overdueCheck ??= setInterval(() => this.refuseOverdue(), OVERDUE_CHECK_MS);
  }

  /** Storage is given time, and nothing waits for it. */
  private pause(): void {
    this.pausedUntilMs = performance.now() + PAUSE_MS;
    for (const queue of [this.connects, this.upgrades]) {
      const steps = [...queue];
      queue.clear();
      steps.forEach((step) => step.refuse(this.refusal()));
    }
  }

  private refuseOverdue(): void {
    const before = performance.now() - LONGEST_WAIT_MS;
    for (const [step, isRefused] of this.asking) {
      if (step.enteredAtMs < before && !isRefused) {
        this.asking.set(step, true);
        step.refuse(this.refusalFor(new AppError('unavailable')));
      }
    }
    for (const queue of [this.connects, this.upgrades]) {
      for (const step of queue) {
        if (step.enteredAtMs < before) {
          queue.delete(step);
          step.refuse(this.refusal());
        }
      }
    }
    if (this.waiting + this.asking.size === 0) {
      this.stopChecking();
    }
  }

  private stopChecking(): void {
    clearInterval(this.overdueCheck ?? undefined);
    this.overdueCheck = null;
  }

  private refusal(cause?: AppError): AppError {
    const retryAfterSeconds = this.spread.next(performance.now(), Math.random());
    return new AppError('unavailable', { retryAfterSeconds }, { cause });
  }
}
