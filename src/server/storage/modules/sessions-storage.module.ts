import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { SessionEntity } from '../entities/session.entity.js';
import { LiveAccessRepository } from '../repositories/live-access.repository.js';
import { SessionCertificateRepository } from '../repositories/session-certificate.repository.js';
import { SessionEndRepository } from '../repositories/session-end.repository.js';
import { SessionRepository } from '../repositories/session.repository.js';
import { StorageModule } from '../storage.module.js';

const repositories = [
  LiveAccessRepository,
  SessionCertificateRepository,
  SessionEndRepository,
  SessionRepository,
];

/**
 * Owns sessions: their start, their use, their end, and the facts by which a request is judged. Does
 * not own tokens (auth). Routes: none.
 */
@Module({
  imports: [StorageModule, TypeOrmModule.forFeature([SessionEntity])],
  providers: repositories,
  exports: repositories,
})
export class SessionsStorageModule {}
