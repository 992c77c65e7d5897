import type { Server as HttpServer, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { HttpAdapterHost } from '@nestjs/core';
import { pollUntil } from '../common/poll-until.js';
import { httpConfig } from '../config/http.config.js';
import { LiveConnections } from '../updates/live-connections.js';
import { HealthService } from './health.service.js';

/** Time for load balancers to use the connections they keep once more, and to see them end. */
const KEEP_ALIVE_MS = 300;
/** Live connections may take this share of the grace period; requests get the rest. */
const LARGEST_SHARE = 0.6;

/**
 * Drains the process before anything else stops: Nest runs `onModuleDestroy` ahead of every other
 * hook of a shutdown, and it waits for it.
 */
@Injectable()
export class DrainService implements OnModuleInit, OnModuleDestroy {
  private isDraining = false;
  private readonly underWay = new Set<ServerResponse>();

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly health: HealthService,
    private readonly connections: LiveConnections,
    @Inject(httpConfig.KEY) private readonly config: ConfigType<typeof httpConfig>,
  ) {}

  /**
   * Watches requests. While draining each answer ends its connection: closing an idle connection
   * could meet a request on its way.
   */
  onModuleInit(): void {
    const { underWay } = this;
    const forget = function (this: ServerResponse): void {
      underWay.delete(this);
    };
    // Ahead of every handler: an answer that was sent takes no more headers.
    this.server.prependListener('request', (_request, response) => {
      // Not `once`: the event comes once, and wrapping the listener costs every request a microsecond.
      underWay.add(response.on('close', forget));
      if (this.isDraining) {
        endConnection(response);
      }
    });
  }

  /**
   * Reports the process as not ready and refuses new live connections; closes the open ones in
   * waves while requests are served; then takes no new connections and waits for the open requests.
   */
  async onModuleDestroy(): Promise<void> {
    if (!this.server.listening) {
      return;
    }
    this.isDraining = true;
    this.underWay.forEach(endConnection);
    this.health.startDraining();
    const { shutdownGraceMs, shutdownSpreadMs } = this.config;
    const spreadMs = Math.min(shutdownSpreadMs, shutdownGraceMs * LARGEST_SHARE);
    await Promise.all([this.connections.drain(spreadMs), sleep(KEEP_ALIVE_MS)]);
    await this.finishRequests();
  }

  private async finishRequests(): Promise<void> {
    const { server } = this;
    // Right after new connections were accepted: connections still in the queue would be reset, and
    // a balancer does not send a POST that may have arrived to another server.
    await setImmediate();
    // http.Server.close cuts idle connections at the same moment.
    NetServer.prototype.close.call(server);
    await sleep(KEEP_ALIVE_MS);
    await pollUntil(() => this.underWay.size === 0);
    server.closeAllConnections();
  }

  private get server(): HttpServer {
    return this.host.httpAdapter.getHttpServer() as HttpServer;
  }
}

function endConnection(response: ServerResponse): void {
  if (!response.headersSent) {
    response.setHeader('connection', 'close');
  }
}
