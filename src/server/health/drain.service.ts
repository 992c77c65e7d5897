import type { Server as HttpServer, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { LISTEN_BACKLOG } from '../network/backlog.js';
import { stopListening } from '../network/listening-sockets.js';
import { DrainEvents } from '../../common/runtime/drain.events.js';
import { pollUntil } from '../../common/runtime/poll-until.js';
import { Timers } from '../../common/runtime/timers.js';
import { httpConfig, type HttpSettings } from '../config/http.config.js';
import { LiveConnectionsService } from '../updates/live-connections.service.js';

/** Time for load balancers to use the connections they keep once more, and to see them end. */
const KEEP_ALIVE_MS = 300;
/** Time for the first request of a connection that was accepted while draining. */
const FIRST_REQUEST_MS = 2000;
/** Live connections may take this share of the grace period; requests get the rest. */
const LARGEST_SHARE = 0.6;

/** Drains before anything else stops: Nest awaits `onModuleDestroy` ahead of the other hooks. */
@Injectable()
export class DrainService implements OnModuleInit, OnModuleDestroy {
  private readonly underWay = new Set<ServerResponse>();
  /** Connections that were accepted while draining and have sent no request yet. */
  private readonly unused = new Set<Socket>();

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly drain: DrainEvents,
    private readonly connections: LiveConnectionsService,
    private readonly timers: Timers,
    @Inject(httpConfig.KEY) private readonly config: HttpSettings,
  ) {}

  /** Each answer ends its connection: closing an idle one could meet a request on its way. */
  onModuleInit(): void {
    const { underWay } = this;
    const { signal } = this.drain;
    const forget = function (this: ServerResponse): void {
      underWay.delete(this);
    };
    // Ahead of every handler: an answer that was sent takes no more headers.
    this.server.prependListener('request', (request, response) => {
      // Not `once`: the event comes once, and wrapping the listener costs every request a microsecond.
      underWay.add(response.on('close', forget));
      if (signal.aborted) {
        this.unused.delete(request.socket);
        endConnection(response);
      }
    });
  }

  /** Closes live connections in waves while requests are served, then takes no new ones. */
  async onModuleDestroy(): Promise<void> {
    if (!this.server.listening) {
      return;
    }
    this.underWay.forEach(endConnection);
    this.drain.begin();
    const { shutdownGraceMs, shutdownSpreadMs } = this.config;
    const spreadMs = Math.min(shutdownSpreadMs, shutdownGraceMs * LARGEST_SHARE);
    this.watchNewConnections();
    await Promise.all([this.connections.drain(spreadMs), this.timers.sleep(KEEP_ALIVE_MS)]);
    await this.finishRequests();
  }

  private watchNewConnections(): void {
    const { server, unused } = this;
    const event = server instanceof TlsServer ? 'secureConnection' : 'connection';
    server.on(event, (socket: Socket) => {
      unused.add(socket);
      socket.once('close', () => unused.delete(socket));
    });
  }

  private async finishRequests(): Promise<void> {
    const { server } = this;
    await this.acceptQueued();
    stopListening(server);
    await this.timers.sleep(KEEP_ALIVE_MS);
    // A timer that is late runs before the requests that arrived in the meantime are read.
    await this.timers.nextTurn();
    await pollUntil(this.timers, () => this.unused.size === 0, FIRST_REQUEST_MS);
    await pollUntil(this.timers, () => this.underWay.size === 0);
    server.closeAllConnections();
  }

  /**
   * Accepts the queue, one of each socket in a turn: a close would reset it, and a balancer repeats no POST.
   */
  private async acceptQueued(): Promise<void> {
    let accepted = 0;
    const count = (): void => void (accepted += 1);
    this.server.on('connection', count);
    for (let before = -1, turn = 0; accepted !== before && turn < LISTEN_BACKLOG; turn += 1) {
      before = accepted;
      await this.timers.nextTurn();
    }
    this.server.off('connection', count);
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
