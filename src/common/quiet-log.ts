import type { Clock } from './runtime/clock.js';

const QUIET_MS = 60_000;

/** Logs what strangers can cause: each key once a minute at most, with the number of the others since then. */
export class QuietLog {
  private readonly logged = new Map<string, { readonly at: number; others: number }>();

  constructor(private readonly clock: Clock) {}

  /** @param key one of few */
  write(key: string, log: (others: number) => void): void {
    const now = this.clock.elapsed();
    const last = this.logged.get(key);
    if (last !== undefined && now - last.at < QUIET_MS) {
      last.others += 1;
      return;
    }
    log(last?.others ?? 0);
    this.logged.set(key, { at: now, others: 0 });
  }
}
