import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { LiveConnectionsModule } from '../updates/live-connections.module.js';
import { StorageModule } from '../storage/storage.module.js';
import { AnswersService } from './answers.service.js';
import { RequestNewsService } from './request-news.service.js';
import { RequestRetentionJob } from './request-retention.job.js';
import { RequestWaitsService } from './request-waits.service.js';
import { RequestsController } from './requests.controller.js';
import { RequestsService } from './requests.service.js';

/**
 * Owns requests of programs to the people of an account, their answers, and the calls that wait for
 * them. Does not own what they say: clients seal requests, and sign and seal answers (protocol).
 * Routes: /v1/requests, /v1/requests/:id, …/answer, …/answers/:sessionId.
 */
@Module({
  imports: [AuditModule, AuthModule, LiveConnectionsModule, MetricsModule, StorageModule],
  controllers: [RequestsController],
  providers: [
    AnswersService,
    RequestNewsService,
    RequestRetentionJob,
    RequestsService,
    RequestWaitsService,
  ],
})
export class ApprovalsModule {}
