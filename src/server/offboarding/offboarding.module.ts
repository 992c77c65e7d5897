import { Module } from '@nestjs/common';

import { AuthModule } from '../auth/auth.module.js';
import { OperatorRulesModule } from '../config/config.module.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { IdentitiesModule } from '../identities/identities.module.js';
import { ProvidersModule } from '../providers/providers.module.js';
import { StorageModule } from '../storage/storage.module.js';
import { AccountRecheckService } from './account-recheck.service.js';
import { CertificateSessionsService } from './certificate-sessions.service.js';
import { OffboardingJob } from './offboarding.job.js';
import { ProviderMetricsService } from './provider-metrics.service.js';
import { OffboardingMetricsService } from './offboarding-metrics.service.js';
import { RecheckQueuesService } from './recheck-queues.service.js';
import { RecheckResultsService } from './recheck-results.service.js';
import { RecheckVerdictService } from './recheck-verdict.service.js';
import { RevocationSignalsService } from './signals/revocation-signals.service.js';
import { RuleSignalsService } from './signals/rule-signals.service.js';
import { UnusedFilesService } from './signals/unused-files.service.js';
import { ProviderSignalsController } from './signals/provider-signals.controller.js';
import { BackchannelLogoutService } from './signals/backchannel-logout.service.js';
import { GitHubWebhookService } from './signals/github-webhook.service.js';
import { RecheckSignalsService } from './signals/recheck-signals.service.js';
import { EventIntakeService } from './signals/event-intake.service.js';
import { SecurityEventsController } from './signals/security-events.controller.js';
import { SecurityEventsService } from './signals/security-events.service.js';
import { UniversalLogoutController } from './signals/universal-logout.controller.js';
import { UniversalLogoutService } from './signals/universal-logout.service.js';
import { EventPollingJob } from './streams/event-polling.job.js';
import { StreamCheckJob } from './streams/stream-check.job.js';
import { StreamEventsService } from './streams/stream-events.service.js';
import { StreamLossService } from './streams/stream-loss.service.js';
import { StreamMetricsService } from './streams/stream-metrics.service.js';
import { StreamPollerService } from './streams/stream-poller.service.js';

/**
 * Owns the re-checks of linked identities: the queue of each provider, its workers and pauses, the
 * check of one identity, and the signals (of providers, revocation lists and changed rules) that make
 * one due at once, with the streams that deliver security events. Does not own the rules (policy) nor what a change of eligibility does to sessions (identities,
 * auth).
 * Routes: POST /v1/auth/backchannel-logout/:provider, POST /v1/auth/providers/github/webhook,
 * POST /v1/signals/:provider, POST /v1/signals/:provider/global-token-revocation.
 */
@Module({
  imports: [
    AuthModule,
    IdentitiesModule,
    MetricsModule,
    OperatorRulesModule,
    ProvidersModule,
    StorageModule,
  ],
  controllers: [ProviderSignalsController, SecurityEventsController, UniversalLogoutController],
  providers: [
    AccountRecheckService,
    BackchannelLogoutService,
    CertificateSessionsService,
    EventIntakeService,
    EventPollingJob,
    GitHubWebhookService,
    OffboardingJob,
    OffboardingMetricsService,
    ProviderMetricsService,
    RecheckQueuesService,
    RecheckSignalsService,
    RecheckResultsService,
    RecheckVerdictService,
    RevocationSignalsService,
    RuleSignalsService,
    SecurityEventsService,
    StreamCheckJob,
    StreamEventsService,
    StreamLossService,
    StreamMetricsService,
    StreamPollerService,
    UniversalLogoutService,
    UnusedFilesService,
  ],
})
export class OffboardingModule {}
