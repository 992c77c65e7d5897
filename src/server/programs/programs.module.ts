import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { OAuthModule } from '../oauth/oauth.module.js';
import { StorageModule } from '../storage/storage.module.js';
import { AuthorizationController } from './authorization.controller.js';
import { AuthorizationService } from './authorization.service.js';
import { GrantChangesService } from './grant-changes.service.js';
import { ProgramApprovalService } from './program-approval.service.js';
import { ProgramClientsService } from './program-clients.service.js';
import { ProgramGrantsService } from './program-grants.service.js';
import { ProgramJudgementJob } from './ends/program-judgement.job.js';
import { ProgramMetricsService } from './program-metrics.service.js';
import { ProgramServersService } from './program-servers.service.js';
import { ProgramTokensService } from './program-tokens.service.js';
import { ProgramsController } from './programs.controller.js';
import { ProgramsService } from './programs.service.js';

/**
 * Owns the grants by which programs act for people at backends: their requests, approvals, codes and
 * refresh tokens, list and end. Loaded only where a backend has `programs`. Does not own the token
 * endpoint and the tokens (oauth), nor what ends grants with the person's access, which triggers do.
 * Routes: /v1/oauth/authorize, /v1/oauth/requests/:id, /v1/oauth/revoke, /v1/account/programs and …/:id.
 */
@Module({
  imports: [AuditModule, AuthModule, MetricsModule, OAuthModule, StorageModule],
  controllers: [AuthorizationController, ProgramsController],
  providers: [
    AuthorizationService,
    GrantChangesService,
    ProgramApprovalService,
    ProgramClientsService,
    ProgramGrantsService,
    ProgramJudgementJob,
    ProgramMetricsService,
    ProgramServersService,
    ProgramTokensService,
    ProgramsService,
  ],
})
export class ProgramsModule {}
