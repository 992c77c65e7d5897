import { Inject, Injectable } from '@nestjs/common';
import { AdmissionService } from '../../auth/admission.service.js';
import { Clock } from '../../../common/runtime/clock.js';
import { authConfig, type AuthSettings } from '../../config/auth.config.js';
import { MetricsService } from '../../metrics/metrics.service.js';
import { CERTIFICATES } from '../../../core/policy/admission/admission.js';
import { offersAnswers } from '../../../core/policy/admission/answers.js';
import { ProviderHealthService } from '../../providers/provider-health.service.js';
import { AdministrationCountsRepository } from '../../storage/repositories/administration-counts.repository.js';
import type { AdminProvidersDto, OverviewDto } from './admin-providers.dto.js';

/** The job reads due identities every few seconds; identities due for longer are overdue. */
const OVERDUE_MS = 60_000;
const NOTHING_DUE = { due: 0, overdue: 0, oldestDueAt: null };

@Injectable()
export class AdminProvidersService {
  constructor(
    private readonly health: ProviderHealthService,
    private readonly counts: AdministrationCountsRepository,
    private readonly metrics: MetricsService,
    private readonly admission: AdmissionService,
    private readonly clock: Clock,
    @Inject(authConfig.KEY) private readonly auth: AuthSettings,
  ) {}

  async overview(): Promise<OverviewDto> {
    const isAsked = offersAnswers(this.admission.policy);
    const [accounts, requests] = await Promise.all([
      this.counts.accounts(),
      isAsked ? this.counts.requests(this.clock.now()) : null,
    ]);
    return { accounts, requests, isOffboardingOn: this.auth.offboarding.enabled };
  }

  async list(): Promise<AdminProvidersDto> {
    const described = this.described();
    const ids = described.map(({ id }) => id);
    const [due, done] = await Promise.all([
      this.counts.rechecks(ids, OVERDUE_MS),
      this.metrics.eligibilityChecks.get(),
    ]);
    const doneBy = (id: string): Record<string, number> =>
      Object.fromEntries(
        done.values
          .filter(({ labels }) => labels.provider === id)
          .map(({ labels, value }) => [String(labels.outcome), value]),
      );
    const providers = described.map((provider) => ({
      ...provider,
      ...this.health.stateOf(provider.id),
      checks: { ...(due.get(provider.id) ?? NOTHING_DUE), done: doneBy(provider.id) },
    }));
    return { providers };
  }

  private described() {
    const { providers, mtls } = this.admission.policy;
    const isRequired = (id: string): boolean => this.auth.requiredLoginProviders.includes(id);
    const configured = providers.map(({ id, displayName, type }) => ({
      id,
      displayName,
      type,
      isRequired: isRequired(id),
    }));
    const certificates = {
      id: CERTIFICATES,
      displayName: 'Client certificates',
      type: 'certificate' as const,
      isRequired: isRequired(CERTIFICATES),
    };
    return mtls.enabled ? [...configured, certificates] : configured;
  }
}
