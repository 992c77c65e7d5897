import type { Access } from '../auth/auth.service.js';
import type { Timer, Timers } from '../../common/runtime/timers.js';

/** One call that waits for a request. */
export class RequestWait {
  /** A change came while the call did not sleep. */
  private isWoken = false;
  private end: (() => void) | null = null;
  private timer: Timer | null = null;

  constructor(
    readonly access: Access,
    /** Id of the request. */
    readonly id: string,
    private readonly timers: Timers,
  ) {}

  get isSleeping(): boolean {
    return this.end !== null;
  }

  /** Resolves at the next change, also at one since the last call, at the latest after `ms`. */
  next(ms: number): Promise<void> {
    if (this.isWoken) {
      this.isWoken = false;
      return Promise.resolve();
    }
    return new Promise((done) => {
      this.end = done;
      this.timer = this.timers.after(ms, () => this.wake());
    });
  }

  wake(): void {
    if (this.end === null) {
      this.isWoken = true;
      return;
    }
    const done = this.end;
    this.end = null;
    this.timer?.cancel();
    this.timer = null;
    done();
  }
}
