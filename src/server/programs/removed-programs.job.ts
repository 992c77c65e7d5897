import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Timeout } from '@nestjs/schedule';
import { isUnavailable } from '../../common/errors.js';
import { StorageLifecycleService } from '../storage/storage-lifecycle.service.js';
import { GrantEndsService } from './grant-ends.service.js';

/** Until then a rollout has replaced the replicas whose configuration accepts programs. */
const AGAIN_AFTER_MS = 10 * 60_000;

/**
 * Ends the grants of an earlier configuration, where no entry has programs any more: one statement
 * at the start, and one later. Otherwise they would return with an entry.
 */
@Injectable()
export class RemovedProgramsJob implements OnModuleInit {
  private readonly logger = new Logger(RemovedProgramsJob.name);

  constructor(
    private readonly ends: GrantEndsService,
    private readonly storage: StorageLifecycleService,
  ) {}

  onModuleInit(): void {
    this.storage.beforeReady(() => this.run());
  }

  /** Never rejects. */
  @Timeout(AGAIN_AFTER_MS)
  async run(): Promise<void> {
    try {
      await this.ends.endUnaccepted(() => false);
    } catch (error) {
      if (!isUnavailable(error)) {
        this.logger.error(error);
      }
    }
  }
}
