import { QuietLog } from '../../common/quiet-log.js';
import type { Clock } from '../../common/runtime/clock.js';
import type { GuardLogEntry } from './guard-options.js';

/** Logs why tokens are refused. */
export class RefusalLog {
  private readonly quiet: QuietLog;

  constructor(
    clock: Clock,
    private readonly log: (entry: GuardLogEntry) => void,
  ) {
    this.quiet = new QuietLog(clock);
  }

  /** @param reason one of few */
  write(reason: string): void {
    this.quiet.write(reason, (others) =>
      this.log({
        level: 'info',
        message: 'a token was refused',
        reason: others === 0 ? reason : `${reason}; so were ${others} since the last message`,
      }),
    );
  }
}
