import { Module } from '@nestjs/common';
import { AuditModule } from '../../audit/audit.module.js';
import { AuthModule } from '../../auth/auth.module.js';
import { StorageModule } from '../../storage/storage.module.js';
import { GrantChangesService } from '../grant-changes.service.js';
import { RemovedProgramsJob } from './removed-programs.job.js';

/**
 * Owns the end of the grants of an earlier configuration. Loaded in place of ProgramsModule where no
 * backend has `programs`. Routes: none.
 */
@Module({
  imports: [AuditModule, AuthModule, StorageModule],
  providers: [GrantChangesService, RemovedProgramsJob],
})
export class RemovedProgramsModule {}
