import { Module } from '@nestjs/common';
import { IdentitiesModule } from '../identities/identities.module.js';
import { ProvidersModule } from '../providers/providers.module.js';
import { AccountRecheck } from './account-recheck.js';
import { CertificateSessions } from './certificate-sessions.js';
import { OffboardingJob, OldestCheckGauge, ProviderFailureCounts } from './offboarding.job.js';
import { RevocationSignals } from './signals/revocation-signals.js';
import { RuleSignals } from './signals/rule-signals.js';
import { ProviderSignalsController } from './signals/provider-signals.controller.js';
import {
  GitHubWebhookService,
  ProviderSignalsService,
} from './signals/provider-signals.service.js';

/**
 * Owns the re-checks of linked identities: the queue of each provider, its workers and pauses, the
 * check of one identity, and the signals (of providers, revocation lists and changed rules) that make
 * one due at once. Does not own the rules (policy) nor what a change of eligibility does to sessions (identities,
 * auth).
 * Routes: POST /v1/auth/backchannel-logout/:provider, POST /v1/auth/providers/github/webhook.
 */
@Module({
  imports: [IdentitiesModule, ProvidersModule],
  controllers: [ProviderSignalsController],
  providers: [
    AccountRecheck,
    CertificateSessions,
    GitHubWebhookService,
    OffboardingJob,
    OldestCheckGauge,
    ProviderFailureCounts,
    ProviderSignalsService,
    RevocationSignals,
    RuleSignals,
  ],
})
export class OffboardingModule {}
