import type { Server as HttpServer, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { SETTINGS, type Settings } from '../config/settings.js';
import { LiveConnections } from '../updates/live-connections.js';
import { HealthService } from './health.service.js';

/** Time for load balancers to use the connections they keep once more, and hear of the end. */
const KEEP_ALIVE_MS = 300;
const STEP_MS = 20;
/** Live connections may take this share of the grace period; requests get the rest. */
const LARGEST_SHARE = 0.6;

/** What happens between the signal to stop and the closing of the application. */
@Injectable()
export class DrainService {
  private server: HttpServer | null = null;
  private isDraining = false;
  private readonly underWay = new Set<ServerResponse>();

  constructor(
    private readonly health: HealthService,
    private readonly connections: LiveConnections,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * Watches requests, and while draining has each answer end its connection: closing one that is
   * idle could meet a request on its way. Call it before the server listens.
   */
  bind(server: FastifyInstance): void {
    this.server = server.server;
    const { underWay } = this;
    const forget = function (this: ServerResponse): void {
      underWay.delete(this);
    };
    // Ahead of whoever answers: an answer that has left takes no more headers.
    this.server.prependListener('request', (_request, response) => {
      underWay.add(response.once('close', forget));
      if (this.isDraining) {
        endConnection(response);
      }
    });
  }

  /**
   * Not ready any more and no new live connections; the open ones closed in waves, while requests
   * go on; then nobody new, and the requests under way answered.
   */
  async drain(): Promise<void> {
    this.isDraining = true;
    this.underWay.forEach(endConnection);
    this.health.startDraining();
    const { shutdownGraceMs, shutdownSpreadMs } = this.settings.http;
    const spreadMs = Math.min(shutdownSpreadMs, shutdownGraceMs * LARGEST_SHARE);
    await Promise.all([this.connections.drain(spreadMs), sleep(KEEP_ALIVE_MS)]);
    if (this.server?.listening === true) {
      await this.finishRequests(this.server);
    }
  }

  private async finishRequests(server: HttpServer): Promise<void> {
    // Right after new connections were taken: those still in the queue would be reset, and a
    // balancer does not send a POST that may have arrived to somebody else.
    await setImmediate();
    // An HTTP server's own way of closing cuts idle connections off at the same moment.
    NetServer.prototype.close.call(server);
    await sleep(KEEP_ALIVE_MS);
    while (this.underWay.size > 0) {
      await sleep(STEP_MS);
    }
    server.closeAllConnections();
  }
}

function endConnection(response: ServerResponse): void {
  if (!response.headersSent) {
    response.setHeader('connection', 'close');
  }
}
