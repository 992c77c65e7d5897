import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { resourceServersConfig } from '../../config/resource-servers/resource-servers.config.js';
import { MetricsService, RESOURCE_SERVER_REQUESTS } from '../../metrics/metrics.service.js';
import { SigningKeyRepository } from '../../storage/repositories/oauth/signing-key.repository.js';
import type { AdminResourceServersDto } from './admin-resource-servers.dto.js';

/** The backends with their rules and requests, and the keys of their tokens. Shows no secret. */
@Injectable()
export class AdminResourceServersService {
  constructor(
    private readonly signingKeys: SigningKeyRepository,
    private readonly metrics: MetricsService,
    @Inject(resourceServersConfig.KEY)
    private readonly servers: ConfigType<typeof resourceServersConfig>,
  ) {}

  async list(): Promise<AdminResourceServersDto> {
    if (this.servers.length === 0) {
      return { resourceServers: [], keys: [] };
    }
    const [keys, series] = await Promise.all([
      this.signingKeys.schedule(),
      this.metrics.seriesOf(RESOURCE_SERVER_REQUESTS),
    ]);
    const resourceServers = this.servers.map(
      ({ id, name, resource, requireProviders, allowKeyless, ...token }) => ({
        ...{ id, name, resource, requireProviders, allowKeyless, claims: token.claims },
        ...{ maxTokenSeconds: token.maxTokenSeconds, tokenAlg: token.tokenAlg },
        requests: series
          .filter(({ labels }) => labels['resource_server'] === id)
          .map(({ labels: { request = '', outcome = '', reason = '' }, value: count }) => ({
            ...{ request, outcome, reason, count },
          })),
      }),
    );
    return { resourceServers, keys };
  }
}
