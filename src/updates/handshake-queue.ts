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
  readonly refuse: (refusal: AppError) => void;
}

interface WaitingStep extends Step {
  readonly begin: () => void;
}

/**
 * Lets handshakes in a few at a time, so that thousands that come at once leave room for requests.
 * Both steps of a handshake wait here: the HTTP request, and the CONNECT packet, which goes first
 * because its connection is open already. How many wait is bounded; while storage cannot answer, none do.
 */
@Injectable()
export class HandshakeQueue implements OnApplicationShutdown {
  private readonly upgrades = new Set<WaitingStep>();
  private readonly connects = new Set<WaitingStep>();
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
   * Waits for the turn of an HTTP request. Returns at once, without a promise, when it has come.
   *
   * @throws AppError (or rejects with it) `unavailable`
   */
  turn(): undefined | Promise<void> {
    if (this.isTurnOf(this.upgrades)) {
      this.countBegun();
      return undefined;
    }
    return new Promise((begin, refuse) => this.wait(this.upgrades, { begin, refuse }));
  }

  /**
   * Waits for the turn of a CONNECT packet, then asks storage about it. Returns at once, without a
   * promise, when both are possible.
   *
   * @throws AppError (or rejects with it) `unavailable`, also when storage does not answer in time;
   *   or what `ask` throws
   */
  ask<Answer>(ask: () => Answer | Promise<Answer>): Answer | Promise<Answer> {
    if (this.isTurnOf(this.connects)) {
      this.countBegun();
      try {
        return this.answerOf(ask, performance.now());
      } catch (error) {
        throw this.refusalFor(error);
      }
    }
    return new Promise((resolve, refuse) => {
      const enteredAtMs = performance.now();
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

  /** Whether a step may begin at once. @throws AppError `unavailable` when it may not even wait */
  private isTurnOf(queue: Set<WaitingStep>): boolean {
    if (!this.hasRoom()) {
      throw this.refusal();
    }
    return this.waiting === 0 && this.mayBegin(queue);
  }

  private wait(queue: Set<WaitingStep>, step: Omit<WaitingStep, 'enteredAtMs'>): void {
    queue.add({ ...step, enteredAtMs: performance.now() });
    this.checkOverdue();
    // Those that kept the others waiting may have been refused.
    this.beginNext();
  }

  private mayBegin(queue: Set<WaitingStep>): boolean {
    const isAsked = queue === this.upgrades || this.asking.size < MAX_ASKING;
    return isAsked && this.begunThisTurn < PER_TURN;
  }

  private countBegun(): void {
    if (this.begunThisTurn === 0) {
      setImmediate(() => {
        this.begunThisTurn = 0;
        this.beginNext();
      });
    }
    this.begunThisTurn += 1;
  }

  private beginNext(): void {
    for (;;) {
      const queue = this.connects.size > 0 ? this.connects : this.upgrades;
      const [step] = queue;
      if (step === undefined || !this.mayBegin(queue)) {
        return;
      }
      queue.delete(step);
      this.countBegun();
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

  /** Counts a question until storage answers, and refuses its client when that takes too long. */
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
