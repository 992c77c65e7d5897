import { ConfigurableModuleBuilder, Module } from '@nestjs/common';
import type { Cluster, Redis } from 'ioredis';
import { ConnectionLimits, UnauthenticatedConnections } from './connection-limits.js';
import { ConnectionSweep } from './connection-sweep.js';
import { HandshakeQueue } from './handshake-queue.js';
import { ConnectionPolicy, Handshake } from './handshake.js';
import { LiveConnections } from './live-connections.js';
import { CLUSTER_ADAPTER, UpdatesAdapter, type ClusterAdapter } from './updates.adapter.js';
import { UpdatesGateway } from './updates.gateway.js';

export interface UpdatesOptions {
  /** The connection that the replicas share; null where there is one replica. */
  readonly redis: Redis | Cluster | null;
}

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } =
  new ConfigurableModuleBuilder<UpdatesOptions>()
    .setExtras({}, (definition) => ({ ...definition, global: true }))
    .build();

/**
 * Owns live connections: the handshake at /v1/updates, what is sent over it, and how a connection
 * ends. Does not own authentication (auth) nor what changed: features publish that.
 */
@Module({
  providers: [
    ConnectionPolicy,
    ConnectionLimits,
    ConnectionSweep,
    Handshake,
    HandshakeQueue,
    LiveConnections,
    UnauthenticatedConnections,
    UpdatesAdapter,
    UpdatesGateway,
    { provide: CLUSTER_ADAPTER, inject: [MODULE_OPTIONS_TOKEN], useFactory: clusterAdapterOver },
  ],
  exports: [LiveConnections],
})
export class UpdatesModule extends ConfigurableModuleClass {}

/** A server without Redis never loads the package that carries updates between replicas. */
async function clusterAdapterOver({ redis }: UpdatesOptions): Promise<ClusterAdapter | null> {
  if (redis === null) {
    return null;
  }
  const { createAdapter } = await import('@socket.io/redis-streams-adapter');
  return createAdapter(redis) as ClusterAdapter;
}
