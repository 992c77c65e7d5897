import { Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { isUnavailable } from './errors.js';

/** Deletes in short statements until no row is left. A job extends it with its own interval. */
export class BatchDeletion implements BeforeApplicationShutdown {
  private running: Promise<void> | null = null;
  private isStopping = false;

  /** @param deleteBatch returns true while there may be more rows */
  constructor(
    private readonly deleteBatch: () => Promise<boolean>,
    private readonly logger: Logger,
  ) {}

  /** Starts a run, or joins the running one. Never rejects. */
  async run(): Promise<void> {
    this.running ??= this.runOnce().finally(() => (this.running = null));
    await this.running;
  }

  /** Resolves after the running batch. No other one starts. */
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
