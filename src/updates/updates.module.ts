import { Module } from '@nestjs/common';
import { Admission } from './admission.js';
import { ConnectionLimits } from './connection-limits.js';
import { ConnectionSweep } from './connection-sweep.js';
import { Handshake } from './handshake.js';
import { LiveConnections } from './live-connections.js';
import { UnauthenticatedConnections } from './unauthenticated-connections.js';
import { UpdatesGateway } from './updates.gateway.js';
import { UpdatesPublisher } from './updates.publisher.js';

/**
 * Owns live connections: the handshake at /v1/updates, what is sent over it, and how a connection
 * ends. Does not own authentication (auth) nor what changed: features publish that.
 */
@Module({
  providers: [
    Admission,
    ConnectionLimits,
    ConnectionSweep,
    Handshake,
    LiveConnections,
    UnauthenticatedConnections,
    UpdatesGateway,
    UpdatesPublisher,
  ],
  exports: [LiveConnections, UpdatesPublisher],
})
export class UpdatesModule {}
