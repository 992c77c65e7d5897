import { Injectable, type OnModuleInit } from '@nestjs/common';
import { MetricsService } from '../metrics/metrics.service.js';
import { ExpiryService } from '../providers/certificate/expiry.service.js';
import { ProviderHealthService } from '../providers/provider-health.service.js';

/** Counts the causes of provider failures, at logins and at re-checks, and reports what expires. */
@Injectable()
export class ProviderMetricsService implements OnModuleInit {
  constructor(
    private readonly health: ProviderHealthService,
    private readonly expiry: ExpiryService,
    private readonly metrics: MetricsService,
  ) {}

  onModuleInit(): void {
    this.metrics.observeCounts(
      'gatehouse_provider_failures_total',
      'Requests to identity providers that failed, and logins without a refresh token, by cause.',
      ['provider', 'cause'],
      () => this.health.counted().map(({ count: value, ...labels }) => ({ ...labels, value })),
    );
    this.metrics.observeEach(
      'gatehouse_certificate_expiry_timestamp_seconds',
      'End of a certificate, an authority, a revocation list or a client secret that this server uses, by the variable that names it.',
      ['kind', 'variable', 'name'],
      () =>
        this.expiry.current().map(({ kind, variable, name, expiresAt }) => {
          return { kind, variable, name, value: expiresAt / 1000 };
        }),
    );
  }
}
