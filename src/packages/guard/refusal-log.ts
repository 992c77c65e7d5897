import type { Clock } from '../../common/runtime/clock.js';
import type { GuardLogEntry } from './guard-options.js';

/** Strangers can send many tokens. */
const QUIET_MS = 60_000;

/** Logs why tokens are refused: each reason once a minute at most, with the refusals since then. */
export class RefusalLog {
  private readonly logged = new Map<string, { readonly at: number; others: number }>();

  constructor(
    private readonly clock: Clock,
    private readonly log: (entry: GuardLogEntry) => void,
  ) {}

  /** @param reason one of few */
  write(reason: string): void {
    const now = this.clock.elapsed();
    const last = this.logged.get(reason);
    if (last !== undefined && now - last.at < QUIET_MS) {
      last.others += 1;
      return;
    }
    const others = last?.others ?? 0;
    this.log({
      level: 'info',
      message: 'a token was refused',
      reason: others === 0 ? reason : `${reason}; so were ${others} since the last message`,
    });
    this.logged.set(reason, { at: now, others: 0 });
  }
}
