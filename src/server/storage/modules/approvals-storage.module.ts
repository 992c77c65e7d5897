import { Module } from '@nestjs/common';
import { AgentRequestRepository } from '../repositories/approvals/agent-request.repository.js';
import { RequestAnswerRepository } from '../repositories/approvals/request-answer.repository.js';
import { RequestRetentionRepository } from '../repositories/approvals/request-retention.repository.js';
import { StorageModule } from '../storage.module.js';
import { AccountsStorageModule } from './accounts-storage.module.js';

const repositories = [AgentRequestRepository, RequestAnswerRepository, RequestRetentionRepository];

/** Owns requests of programs and their answers. Does not own their content. Routes: none. */
@Module({
  imports: [AccountsStorageModule, StorageModule],
  providers: repositories,
  exports: repositories,
})
export class ApprovalsStorageModule {}
