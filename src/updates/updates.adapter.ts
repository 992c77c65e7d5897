import type { IncomingMessage, Server as HttpServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { Server, type ServerOptions } from 'socket.io';
import type { Settings } from '../config/settings.js';
import { Admission } from './admission.js';
import { ConnectionLimits } from './connection-limits.js';
import { cutOff } from './connection-transport.js';
import { invalidRequest, refuseUpgrade, UpdatesEngine } from './updates.engine.js';

export const UPDATES_PATH = '/v1/updates';

/** How this process reaches the clients of the others. */
export type ClusterAdapter = NonNullable<ServerOptions['adapter']>;

/** Clients send nothing larger than a `ping`. */
const MAX_MESSAGE_BYTES = 16 * 1024;
/** A connection that has not authenticated by then is closed (contract, Updates). */
const AUTHENTICATION_MS = 3000;

/** Time for clients to answer that they have heard of the end. */
const GOODBYE_MS = 1000;
const STEP_MS = 20;

/** Socket.IO on the server's own port; over Redis streams where there are several replicas. */
export class UpdatesAdapter extends IoAdapter {
  constructor(
    private readonly app: INestApplicationContext & { getHttpServer(): HttpServer },
    private readonly settings: Settings,
    private readonly clusterAdapter: ClusterAdapter | null,
  ) {
    super(app);
  }

  override createIOServer(): Server {
    const server = new Server({
      serveClient: false,
      connectTimeout: AUTHENTICATION_MS,
      ...(this.clusterAdapter && { adapter: this.clusterAdapter }),
    });
    const engine = this.createEngine();
    const http = this.app.getHttpServer();
    engine.attach(http, { path: UPDATES_PATH, destroyUpgrade: false });
    http.on('upgrade', (request: IncomingMessage) => this.refuseOtherUpgrade(request));
    return server.bind(engine);
  }

  /** Leaves the HTTP server alone: requests that are under way are answered after this. */
  override async close(server: Server): Promise<void> {
    // This process's own only: the other replicas stay.
    server.local.disconnectSockets(true);
    await server.of('/').adapter.close();
    server.engine.close();
    for (let waited = 0; waited < GOODBYE_MS && server.engine.clientsCount > 0; waited += STEP_MS) {
      await sleep(STEP_MS);
    }
    cutOff(server.engine);
  }

  private createEngine(): UpdatesEngine {
    const { corsOrigins } = this.settings.http;
    const { transports } = this.settings.updates;
    return new UpdatesEngine(
      {
        transports: [...transports],
        maxHttpBufferSize: MAX_MESSAGE_BYTES,
        httpCompression: false,
        perMessageDeflate: false,
        // Browsers ask before a request, not before a WebSocket.
        ...(transports.includes('polling') && {
          cors: { origin: corsOrigins.includes('*') ? '*' : [...corsOrigins] },
        }),
      },
      this.app.get(Admission),
      this.app.get(ConnectionLimits),
    );
  }

  /** Engine.IO takes upgrades of its path, and Node leaves the others without an answer. */
  private refuseOtherUpgrade(request: IncomingMessage): void {
    const isTaken = this.settings.updates.transports.includes('websocket');
    if (!isTaken || !request.url?.startsWith(`${UPDATES_PATH}/`)) {
      refuseUpgrade(request, invalidRequest(['upgrade', 'Not offered here.']));
    }
  }
}
