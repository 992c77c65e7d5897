import type { GuardRuntime } from '../guard-options.js';

const WAIT_MS = 10_000;

interface TestStream {
  readonly acknowledged: Set<string>;
}

/** The body of a poll (RFC 8936, 2.2). */
export interface TestPoll {
  readonly maxEvents?: number;
  readonly returnImmediately?: boolean;
  readonly ack?: readonly string[];
}

/** The log of events of a test issuer, and the streams that read it. */
export class TestStreams {
  private readonly streams = new Map<string, TestStream>();
  private readonly events = new Map<string, string>();
  private readonly waiting = new Set<() => void>();

  constructor(private readonly runtime: GuardRuntime) {}

  /** Polls that wait for an event. */
  get waitingPolls(): number {
    return this.waiting.size;
  }

  get count(): number {
    return this.streams.size;
  }

  create(): string {
    const id = this.runtime.random.uuid();
    this.streams.set(id, { acknowledged: new Set() });
    return id;
  }

  delete(id: string): boolean {
    return this.streams.delete(id);
  }

  /** Deletes every stream: polls answer 404. */
  clear(): void {
    this.streams.clear();
    this.wake();
  }

  add(jti: string, token: string): void {
    this.events.set(jti, token);
    this.wake();
  }

  /** Ends the waits of polls. */
  wake(): void {
    const waiting = [...this.waiting];
    this.waiting.clear();
    waiting.forEach((resolve) => resolve());
  }

  /** @param left aborts when the guard waits no more @returns null for a stream that does not exist */
  async poll(id: string, poll: TestPoll, left: AbortSignal): Promise<object | null> {
    const stream = this.streams.get(id);
    poll.ack?.forEach((jti) => stream?.acknowledged.add(jti));
    if (stream !== undefined && poll.returnImmediately !== true && this.next(stream).length === 0) {
      await this.waitForEvent(left);
    }
    if (stream === undefined || !this.streams.has(id)) {
      return null;
    }
    const events = this.next(stream);
    const sets = events.slice(0, poll.maxEvents ?? events.length);
    return { sets: Object.fromEntries(sets), moreAvailable: sets.length < events.length };
  }

  private next({ acknowledged }: TestStream): [string, string][] {
    return [...this.events].filter(([jti]) => !acknowledged.has(jti));
  }

  private async waitForEvent(left: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        timer.cancel();
        this.waiting.delete(done);
        resolve();
      };
      const timer = this.runtime.timers.after(WAIT_MS, done);
      this.waiting.add(done);
      left.addEventListener('abort', done);
    });
  }
}
