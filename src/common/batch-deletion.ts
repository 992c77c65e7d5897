import { Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { logUnlessUnavailable } from './errors.js';

const EVERY_MS = 60_000;

/** Deletes each minute in short statements until no row is left. Jobs extend it. */
export class BatchDeletion implements BeforeApplicationShutdown {
  private running: Promise<void> | null = null;
  private isStopping = false;

  /** @param deleteBatch returns true while there may be more rows */
  constructor(
    private readonly deleteBatch: () => Promise<boolean>,
    protected readonly logger: Logger,
  ) {}

  /** Starts a run, or joins the running one. Never rejects. */
  @Interval(EVERY_MS)
  async run(): Promise<void> {
    this.running ??= logUnlessUnavailable(this.logger, async () => {
      let isMore = true;
      while (isMore && !this.isStopping) {
        isMore = await this.deleteBatch();
      }
    }).finally(() => (this.running = null));
    await this.running;
  }

  /** Resolves after the running batch. No other one starts. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.running;
  }
}
