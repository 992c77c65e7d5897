import type { IncomingMessage, Server as HttpServer } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { HttpAdapterHost } from '@nestjs/core';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { Server, type ServerOptions } from 'socket.io';
import { invalidRequest } from '../common/errors.js';
import { pollUntil } from '../common/poll-until.js';
import { httpConfig } from '../config/http.config.js';
import { updatesConfig } from '../config/updates.config.js';
import { Metrics } from '../metrics/metrics.js';
import { ConnectionLimits } from './connection-limits.js';
import { cutOff } from './connection-transport.js';
import { ConnectionPolicy } from './handshake.js';
import { HandshakeQueue } from './handshake-queue.js';
import { refuseUpgrade, UpdatesEngine } from './updates.engine.js';

export const UPDATES_PATH = '/v1/updates';

/** How this process reaches the clients of the other replicas. */
export type ClusterAdapter = NonNullable<ServerOptions['adapter']>;

/** DI token of the {@link ClusterAdapter}; null where there is one replica. */
export const CLUSTER_ADAPTER = Symbol('ClusterAdapter');

/** Clients send nothing larger than a `ping`. */
const MAX_MESSAGE_BYTES = 16 * 1024;
/** A connection that has not authenticated by then is closed (contract, Updates). */
const AUTHENTICATION_MS = 3000;
/** Time for clients to answer the close. */
const CLOSE_LIMIT_MS = 1000;

/** Socket.IO on the server's own port; over Redis streams where there are several replicas. */
@Injectable()
export class UpdatesAdapter extends IoAdapter {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly policy: ConnectionPolicy,
    private readonly queue: HandshakeQueue,
    private readonly limits: ConnectionLimits,
    private readonly metrics: Metrics,
    @Inject(CLUSTER_ADAPTER) private readonly clusterAdapter: ClusterAdapter | null,
    @Inject(httpConfig.KEY) private readonly http: ConfigType<typeof httpConfig>,
    @Inject(updatesConfig.KEY) private readonly updates: ConfigType<typeof updatesConfig>,
  ) {
    super();
  }

  override createIOServer(): Server {
    const server = new Server({
      serveClient: false,
      connectTimeout: AUTHENTICATION_MS,
      ...(this.clusterAdapter && { adapter: this.clusterAdapter }),
    });
    const engine = this.createEngine();
    const http = this.host.httpAdapter.getHttpServer() as HttpServer;
    engine.attach(http, { path: UPDATES_PATH, destroyUpgrade: false });
    http.on('upgrade', (request: IncomingMessage) => this.refuseOtherUpgrade(request));
    return server.bind(engine);
  }

  /** The gateway listens for `ping` itself: without handlers Nest still watches every connection. */
  override bindMessageHandlers(): void {
    // Nothing to bind.
  }

  /** Does not close the HTTP server: requests that are under way are answered after this. */
  override async close(server: Server): Promise<void> {
    // This process's own only: the other replicas stay.
    server.local.disconnectSockets(true);
    await server.of('/').adapter.close();
    server.engine.close();
    await pollUntil(() => server.engine.clientsCount === 0, CLOSE_LIMIT_MS);
    cutOff(server.engine);
  }

  private createEngine(): UpdatesEngine {
    const { corsOrigins } = this.http;
    const { transports } = this.updates;
    return new UpdatesEngine(
      {
        transports: [...transports],
        maxHttpBufferSize: MAX_MESSAGE_BYTES,
        httpCompression: false,
        perMessageDeflate: false,
        // Browsers send a preflight before a request, not before a WebSocket.
        ...(transports.includes('polling') && {
          cors: { origin: corsOrigins.includes('*') ? '*' : [...corsOrigins] },
        }),
      },
      this.policy,
      this.queue,
      this.limits,
      this.metrics,
    );
  }

  /** Engine.IO takes upgrades of its path; Node does not answer the others. */
  private refuseOtherUpgrade(request: IncomingMessage): void {
    const isTaken = this.updates.transports.includes('websocket');
    if (!isTaken || !request.url?.startsWith(`${UPDATES_PATH}/`)) {
      refuseUpgrade(request, invalidRequest('upgrade', 'Not offered here.'));
    }
  }
}
