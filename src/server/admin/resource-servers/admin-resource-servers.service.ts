import { Inject, Injectable } from '@nestjs/common';
import { resourceServersConfig } from '../../config/resource-servers/resource-servers.config.js';
import type { ResourceServerSettings } from '../../config/resource-servers/resource-servers-file.js';
import { MetricsService, RESOURCE_SERVER_REQUESTS } from '../../metrics/metrics.service.js';
import { EventStatisticsRepository } from '../../storage/repositories/oauth/event-statistics.repository.js';
import { SigningKeyRepository } from '../../storage/repositories/oauth/signing-key.repository.js';
import type { AdminResourceServersDto } from './admin-resource-servers.dto.js';

/** The backends with their rules, requests and streams, and the keys of their tokens. Shows no secret. */
@Injectable()
export class AdminResourceServersService {
  constructor(
    private readonly signingKeys: SigningKeyRepository,
    private readonly events: EventStatisticsRepository,
    private readonly metrics: MetricsService,
    @Inject(resourceServersConfig.KEY) private readonly servers: readonly ResourceServerSettings[],
  ) {}

  async list(): Promise<AdminResourceServersDto> {
    if (this.servers.length === 0) {
      return { resourceServers: [], keys: [] };
    }
    const [keys, streams, series] = await Promise.all([
      this.signingKeys.schedule(),
      this.events.streams(this.servers.map(({ id }) => id)),
      this.metrics.seriesOf(RESOURCE_SERVER_REQUESTS),
    ]);
    const resourceServers = this.servers.map(
      ({ id, name, resource, requireProviders, allowKeyless, ...token }) => ({
        id,
        name,
        resource,
        requireProviders,
        allowKeyless,
        claims: token.claims,
        maxTokenSeconds: token.maxTokenSeconds,
        tokenAlg: token.tokenAlg,
        requests: series
          .filter(({ labels }) => labels['resource_server'] === id)
          .map(({ labels: { request = '', outcome = '', reason = '' }, value: count }) => ({
            request,
            outcome,
            reason,
            count,
          })),
        streams: streams.flatMap(({ resourceServer, ...stream }) =>
          resourceServer === id ? [stream] : [],
        ),
      }),
    );
    return { resourceServers, keys };
  }
}
