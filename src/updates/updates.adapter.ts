import type { IncomingMessage, Server as HttpServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { Server, type ServerOptions } from 'socket.io';
import type { Settings } from '../config/settings.js';
import { cutOff } from './connection-transport.js';

export const UPDATES_PATH = '/v1/updates';

/** How this process reaches the clients of the others. */
export type ClusterAdapter = NonNullable<ServerOptions['adapter']>;

/** Clients send nothing larger than a `ping`. */
const MAX_MESSAGE_BYTES = 16 * 1024;
/** A connection that has not passed the handshake by then is dropped. */
const HANDSHAKE_TIMEOUT_MS = 10_000;

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
    const { corsOrigins } = this.settings.http;
    const { transports } = this.settings.updates;
    const options: Partial<ServerOptions> = {
      path: UPDATES_PATH,
      transports: [...transports],
      serveClient: false,
      maxHttpBufferSize: MAX_MESSAGE_BYTES,
      connectTimeout: HANDSHAKE_TIMEOUT_MS,
      httpCompression: false,
      perMessageDeflate: false,
      // A browser asks nobody before it opens a WebSocket.
      ...(transports.includes('polling') && {
        cors: { origin: corsOrigins.includes('*') ? '*' : [...corsOrigins] },
      }),
      allowRequest: (request, callback) => callback(null, this.isOriginAllowed(request)),
      ...(this.clusterAdapter && { adapter: this.clusterAdapter }),
    };
    return new Server(this.app.getHttpServer(), options);
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

  /** Browsers send the page's origin with a WebSocket and nothing else stops them (ASVS 4.4.2). */
  private isOriginAllowed({ headers }: IncomingMessage): boolean {
    const { corsOrigins } = this.settings.http;
    return (
      headers.origin === undefined ||
      corsOrigins.includes('*') ||
      corsOrigins.includes(headers.origin)
    );
  }
}
