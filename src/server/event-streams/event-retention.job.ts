import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { BatchDeletion } from '../../common/batch-deletion.js';
import { logUnlessUnavailable } from '../../common/errors.js';
import { EventRetentionRepository } from '../storage/repositories/oauth/event-retention.repository.js';
import { StorageLifecycleService } from '../storage/storage-lifecycle.service.js';
import { STREAM_BOUNDS } from './stream-bounds.js';

const EVENT_BOUNDS = {
  keptMs: 3_600_000,
  maxEvents: 100_000,
  silentMs: STREAM_BOUNDS.silentMs,
};

/** Deletes old events, the streams that miss one, and silent streams. */
@Injectable()
export class EventRetentionJob extends BatchDeletion implements OnModuleInit {
  constructor(
    private readonly events: EventRetentionRepository,
    private readonly storage: StorageLifecycleService,
  ) {
    super(() => events.deleteBatch(EVENT_BOUNDS), new Logger(EventRetentionJob.name));
  }

  onModuleInit(): void {
    this.storage.beforeReady(() =>
      logUnlessUnavailable(this.logger, async () => {
        await this.events.adopt();
        void this.run();
      }),
    );
  }
}
