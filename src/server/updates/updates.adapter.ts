import type { IncomingMessage, Server as HttpServer } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { Server, type ServerOptions } from 'socket.io';
import { invalidRequest } from '../../common/errors.js';
import { pollUntil } from '../../common/runtime/poll-until.js';
import { Timers } from '../../common/runtime/timers.js';
import { updatesConfig, type UpdatesSettings } from '../config/updates.config.js';
import { cutOff } from './connection-transport.js';
import { refuseUpgrade, UpdatesEngine } from './updates.engine.js';

const UPDATES_PATH = '/v1/updates';

/** The adapter that connects this process with the clients of other replicas. */
export type ClusterAdapter = NonNullable<ServerOptions['adapter']>;

/** DI token of the {@link ClusterAdapter}; null with one replica. */
export const CLUSTER_ADAPTER = Symbol('ClusterAdapter');

/** A connection that has not authenticated within this time is closed (contract, Updates). */
const AUTHENTICATION_MS = 3000;
/** Time for clients to answer the close. */
const CLOSE_LIMIT_MS = 1000;

/** Socket.IO on the server's own port, over Redis streams with several replicas. */
@Injectable()
export class UpdatesAdapter extends IoAdapter {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly engine: UpdatesEngine,
    private readonly timers: Timers,
    @Inject(CLUSTER_ADAPTER) private readonly clusterAdapter: ClusterAdapter | null,
    @Inject(updatesConfig.KEY) private readonly updates: UpdatesSettings,
  ) {
    super();
  }

  override createIOServer(): Server {
    const server = new Server({
      serveClient: false,
      connectTimeout: AUTHENTICATION_MS,
      ...(this.clusterAdapter && { adapter: this.clusterAdapter }),
    });
    const http = this.host.httpAdapter.getHttpServer() as HttpServer;
    this.engine.attach(http, { path: UPDATES_PATH, destroyUpgrade: false });
    // Before the listeners of Engine.IO, which knows the path with a slash alone.
    http.prependListener('request', addSlash).prependListener('upgrade', addSlash);
    http.on('upgrade', (request: IncomingMessage) => this.refuseOtherUpgrade(request));
    return server.bind(this.engine);
  }

  /** The gateway handles `ping` itself: Nest would subscribe to every connection even so. */
  override bindMessageHandlers(): void {}

  /** Does not close the HTTP server, so that running requests are still answered. */
  override async close(server: Server): Promise<void> {
    // Only this process's connections, not those of the other replicas.
    server.local.disconnectSockets(true);
    await server.of('/').adapter.close();
    server.engine.close();
    await pollUntil(this.timers, () => server.engine.clientsCount === 0, CLOSE_LIMIT_MS);
    cutOff(server.engine);
  }

  /** Engine.IO handles upgrades of its path; Node leaves others unanswered. */
  private refuseOtherUpgrade(request: IncomingMessage): void {
    const isTaken = this.updates.transports.includes('websocket');
    if (!isTaken || !request.url?.startsWith(`${UPDATES_PATH}/`)) {
      refuseUpgrade(request, invalidRequest('upgrade', 'Not offered here.'));
    }
  }
}

/** Socket.IO clients add a slash to the path, and other clients of WebSockets do not. */
function addSlash(request: IncomingMessage): void {
  const { url = '' } = request;
  if (url === UPDATES_PATH || url.startsWith(`${UPDATES_PATH}?`)) {
    request.url = `${UPDATES_PATH}/${url.slice(UPDATES_PATH.length)}`;
  }
}
