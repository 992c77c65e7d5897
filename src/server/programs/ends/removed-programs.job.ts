import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Interval, Timeout } from '@nestjs/schedule';
import { logUnlessUnavailable } from '../../../common/errors.js';
import { StorageLifecycleService } from '../../storage/storage-lifecycle.service.js';
import { GrantChangesService } from '../grant-changes.service.js';

/** Until then a rollout has replaced the replicas whose configuration accepts programs. */
const AGAIN_AFTER_MS = 10 * 60_000;
const WHILE_LEFT_EVERY_MS = 60_000;

/**
 * Ends the grants of an earlier configuration, where no entry has programs any more: one statement
 * at the start, one later, and more only while such grants are left. Otherwise they would return with an entry.
 */
@Injectable()
export class RemovedProgramsJob implements OnModuleInit {
  private readonly logger = new Logger(RemovedProgramsJob.name);
  private isLeft = false;

  constructor(
    private readonly changes: GrantChangesService,
    private readonly storage: StorageLifecycleService,
  ) {}

  onModuleInit(): void {
    this.storage.beforeReady(() => this.run());
  }

  @Interval(WHILE_LEFT_EVERY_MS)
  async runWhileLeft(): Promise<void> {
    if (this.isLeft) {
      await this.run();
    }
  }

  /** Never rejects. */
  @Timeout(AGAIN_AFTER_MS)
  run(): Promise<void> {
    return logUnlessUnavailable(this.logger, async () => {
      this.isLeft = await this.changes.endUnaccepted(() => false);
    });
  }
}
