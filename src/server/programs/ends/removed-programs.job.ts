import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Timeout } from '@nestjs/schedule';
import { AuditService } from '../../audit/audit.service.js';
import { IdentityEvents } from '../../auth/identity.events.js';
import { isUnavailable } from '../../../common/errors.js';
import { Clock } from '../../../common/runtime/clock.js';
import { StorageLifecycleService } from '../../storage/storage-lifecycle.service.js';
import { ProgramGrantRepository } from '../../storage/repositories/programs/program-grant.repository.js';

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
    private readonly grants: ProgramGrantRepository,
    private readonly events: IdentityEvents,
    private readonly audit: AuditService,
    private readonly clock: Clock,
    private readonly storage: StorageLifecycleService,
  ) {}

  onModuleInit(): void {
    this.storage.beforeReady(() => this.run());
  }

  /** Never rejects. */
  @Timeout(AGAIN_AFTER_MS)
  async run(): Promise<void> {
    try {
      const now = new Date(this.clock.now());
      for (const event of await this.grants.endUnaccepted(() => false, now)) {
        this.events.announceAccessChange({ accountId: event.accountId });
        this.audit.log(event);
      }
    } catch (error) {
      if (!isUnavailable(error)) {
        this.logger.error(error);
      }
    }
  }
}
