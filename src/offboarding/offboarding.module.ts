import { Module } from '@nestjs/common';

import { AuthModule } from '../auth/auth.module.js';
import { OperatorRulesModule } from '../config/config.module.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { IdentitiesStorageModule } from '../storage/modules/identities-storage.module.js';
import { SessionsStorageModule } from '../storage/modules/sessions-storage.module.js';
import { IdentitiesModule } from '../identities/identities.module.js';
import { ProvidersModule } from '../providers/providers.module.js';
import { AccountRecheckService } from './account-recheck.service.js';
import { CertificateSessionsService } from './certificate-sessions.service.js';
import { OffboardingJob } from './offboarding.job.js';
import { ProviderMetricsService } from './provider-metrics.service.js';
import { OffboardingMetricsService } from './offboarding-metrics.service.js';
import { RecheckQueuesService } from './recheck-queues.service.js';
import { RecheckVerdictService } from './recheck-verdict.service.js';
import { RevocationSignalsService } from './signals/revocation-signals.service.js';
import { RuleSignalsService } from './signals/rule-signals.service.js';
import { UnusedFilesService } from './signals/unused-files.service.js';
import { ProviderSignalsController } from './signals/provider-signals.controller.js';
import { BackchannelLogoutService } from './signals/backchannel-logout.service.js';
import { GitHubWebhookService } from './signals/github-webhook.service.js';
import { RecheckSignalsService } from './signals/recheck-signals.service.js';
import { SecurityEventsController } from './signals/security-events.controller.js';
import { SecurityEventsService } from './signals/security-events.service.js';
import { UniversalLogoutController } from './signals/universal-logout.controller.js';
import { UniversalLogoutService } from './signals/universal-logout.service.js';

/**
 * Owns the re-checks of linked identities: the queue of each provider, its workers and pauses, the
 * check of one identity, and the signals (of providers, revocation lists and changed rules) that make
 * one due at once. Does not own the rules (policy) nor what a change of eligibility does to sessions (identities,
 * auth).
 * Routes: POST /v1/auth/backchannel-logout/:provider, POST /v1/auth/providers/github/webhook,
 * POST /v1/signals/:provider, POST /v1/signals/:provider/global-token-revocation.
 */
@Module({
  imports: [
    AuthModule,
    IdentitiesModule,
    IdentitiesStorageModule,
    MetricsModule,
    OperatorRulesModule,
    ProvidersModule,
    SessionsStorageModule,
  ],
  controllers: [ProviderSignalsController, SecurityEventsController, UniversalLogoutController],
  providers: [
    AccountRecheckService,
    BackchannelLogoutService,
    CertificateSessionsService,
    GitHubWebhookService,
    OffboardingJob,
    OffboardingMetricsService,
    ProviderMetricsService,
    RecheckQueuesService,
    RecheckSignalsService,
    RecheckVerdictService,
    RevocationSignalsService,
    RuleSignalsService,
    SecurityEventsService,
    UniversalLogoutService,
    UnusedFilesService,
  ],
})
export class OffboardingModule {}
