import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventAcknowledgementEntity, EventStreamEntity } from '../entities/event-stream.entity.js';
import { ResourceSessionEntity } from '../entities/resource-session.entity.js';
import { SecurityEventEntity } from '../entities/security-event.entity.js';
import { SigningKeyEntity } from '../entities/signing-key.entity.js';
import { EventRetentionRepository } from '../repositories/oauth/event-retention.repository.js';
import { EventStatisticsRepository } from '../repositories/oauth/event-statistics.repository.js';
import { EventStreamRepository } from '../repositories/oauth/event-stream.repository.js';
import { ResourceJudgementRepository } from '../repositories/oauth/resource-judgement.repository.js';
import { ClientAssertionRepository } from '../repositories/oauth/client-assertion.repository.js';
import { ResourceSessionRepository } from '../repositories/oauth/resource-session.repository.js';
import { SecurityEventRepository } from '../repositories/oauth/security-event.repository.js';
import { SigningKeyRepository } from '../repositories/oauth/signing-key.repository.js';
import { StorageModule } from '../storage.module.js';

const repositories = [
  ClientAssertionRepository,
  EventRetentionRepository,
  EventStatisticsRepository,
  EventStreamRepository,
  ResourceJudgementRepository,
  ResourceSessionRepository,
  SecurityEventRepository,
  SigningKeyRepository,
];

const entities = [
  EventAcknowledgementEntity,
  EventStreamEntity,
  ResourceSessionEntity,
  SecurityEventEntity,
  SigningKeyEntity,
];

/**
 * Owns the sessions at backends, the log of their ends with its streams, the keys that sign tokens, and
 * the assertions that backends used.
 * Does not own tokens (oauth) nor the delivery of events (signals). Routes: none.
 */
@Module({
  imports: [StorageModule, TypeOrmModule.forFeature(entities)],
  providers: repositories,
  exports: repositories,
})
export class ResourceServersStorageModule {}
