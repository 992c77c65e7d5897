import { Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { isUnavailable } from './errors.js';

/**
 * Deletes in short statements until nothing is left: one run at a time, and none while stopping.
 * A job extends it with its own interval.
 */
export class BatchDeletion implements BeforeApplicationShutdown {
  private running: Promise<void> | null = null;
  private isStopping = false;

  /**
   * @param deleteBatch deletes some; true while there may be more
   * @param logger logs faults, except an unavailable database: the next run comes
   */
  constructor(
    private readonly deleteBatch: () => Promise<boolean>,
    private readonly logger: Logger,
  ) {}

  /** Begins a run, or joins the one that is under way. Never rejects. */
  async run(): Promise<void> {
    this.running ??= this.runOnce().finally(() => (this.running = null));
    await this.running;
  }

  /** Resolves when the batch that is under way has ended; there is none after it. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.running;
  }

  private async runOnce(): Promise<void> {
    try {
      let isMore = true;
      while (isMore && !this.isStopping) {
        isMore = await this.deleteBatch();
      }
    } catch (error) {
      if (!isUnavailable(error)) {
        this.logger.error(error);
      }
    }
  }
}
