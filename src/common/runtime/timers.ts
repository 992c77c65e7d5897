import { setTimeout as sleep } from 'node:timers/promises';

export interface Timer {
  /** A second call has no effect. */
  cancel(): void;
}

/** Waiting. Only `sleep` and turns of the event loop keep the process alive. */
export class Timers {
  /** Rejects with an `AbortError` when the signal aborts first. */
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await sleep(ms, undefined, { signal });
  }

  /** Resolves in the next turn of the event loop, after the waiting I/O. */
  nextTurn(): Promise<void> {
    return new Promise((done) => this.inNextTurn(done));
  }

  /** Runs `act` in the next turn of the event loop, after the waiting I/O. */
  inNextTurn(act: () => void): void {
    setImmediate(act);
  }

  after(ms: number, act: () => void): Timer {
    const timer = setTimeout(act, ms).unref();
    return { cancel: () => clearTimeout(timer) };
  }

  every(ms: number, act: () => void): Timer {
    const timer = setInterval(act, ms).unref();
    return { cancel: () => clearInterval(timer) };
  }

  /** Resolves with `otherwise` if `answer`, which never rejects, takes longer than `ms`. */
  inTime<Answer>(ms: number, answer: Promise<Answer>, otherwise: Answer): Promise<Answer> {
    return new Promise((done) => {
      const timer = this.after(ms, () => done(otherwise));
      void answer.then((value) => {
        timer.cancel();
        done(value);
      });
    });
  }

  /** Returns a signal that aborts after `ms`, with a `TimeoutError`. */
  timeout(ms: number): AbortSignal {
    return AbortSignal.timeout(ms);
  }
}
