import { ConfigurableModuleBuilder, Module } from '@nestjs/common';
import type { Cluster, Redis } from 'ioredis';
import { AuthModule } from '../auth/auth.module.js';
import { httpConfig } from '../config/http.config.js';
import { updatesConfig } from '../config/updates.config.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { MetricsService } from '../metrics/metrics.service.js';
import { LiveConnectionsModule } from './live-connections.module.js';
import { ConnectionLimitsService } from './connection-limits.service.js';
import { UnauthenticatedConnectionsService } from './unauthenticated-connections.service.js';
import { ConnectionSweepService } from './connection-sweep.service.js';
import { HandshakeQueueService } from './handshake-queue.service.js';
import { HandshakeService } from './handshake.service.js';
import { CLUSTER_ADAPTER, UpdatesAdapter, type ClusterAdapter } from './updates.adapter.js';
import { UpdatesEngine } from './updates.engine.js';
import { UpdatesGateway } from './updates.gateway.js';

interface UpdatesOptions {
  /** The Redis connection that the replicas share; null with one replica. */
  readonly redis: Redis | Cluster | null;
}

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } =
  new ConfigurableModuleBuilder<UpdatesOptions>().build();

/**
 * Owns the handshake at /v1/updates, and the limits and checks that end connections. Does not own
 * sending (LiveConnectionsModule), authentication (auth) nor the changes.
 */
@Module({
  imports: [AuthModule, LiveConnectionsModule, MetricsModule],
  providers: [
    ConnectionLimitsService,
    ConnectionSweepService,
    HandshakeService,
    HandshakeQueueService,
    UnauthenticatedConnectionsService,
    UpdatesAdapter,
    UpdatesGateway,
    {
      provide: UpdatesEngine,
      inject: [
        HandshakeService,
        ConnectionLimitsService,
        MetricsService,
        httpConfig.KEY,
        updatesConfig.KEY,
      ],
      useFactory: (...parts: ConstructorParameters<typeof UpdatesEngine>) =>
        new UpdatesEngine(...parts),
    },
    { provide: CLUSTER_ADAPTER, inject: [MODULE_OPTIONS_TOKEN], useFactory: clusterAdapterOver },
  ],
})
export class UpdatesModule extends ConfigurableModuleClass {}

/** Loads the adapter only with Redis, which carries updates between replicas. */
async function clusterAdapterOver({ redis }: UpdatesOptions): Promise<ClusterAdapter | null> {
  if (redis === null) {
    return null;
  }
  const { createAdapter } = await import('@socket.io/redis-streams-adapter');
  return createAdapter(redis) as ClusterAdapter;
}
