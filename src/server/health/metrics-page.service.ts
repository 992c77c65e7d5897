import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { sha256 } from '../../common/sha256.js';
import { bearerTokenFrom } from '../auth/authentication.guard.js';
import { sendError } from '../http/error.filter.js';
import { Clock } from '../../common/runtime/clock.js';
import { AppError } from '../../common/errors.js';
import { readSecretValue } from '../config/read-environment.js';
import { SecretFile } from '../config/environment/secret-file.js';
import { metricsConfig, type MetricsSettings } from '../config/metrics.config.js';
import { listenOn } from '../network/listen-host.js';
import { boundConnections } from '../network/open-connections.js';
import { MetricsService } from '../metrics/metrics.service.js';
import { DependencyMetricsService } from './dependency-metrics.service.js';
import { ProcessMetricsService } from './process-metrics.service.js';

const PATH = '/metrics';
/** A scrape takes less than a second, and few monitors scrape a server. */
const MAX_CONNECTIONS = 100;
/** A connection without progress is closed after it, and so is one that sends a request too slowly. */
const TIMEOUT_MS = 30_000;

/** Serves metrics on their own port, or on the main port to callers with the token. */
@Injectable()
export class MetricsPageService implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(MetricsPageService.name);
  private readonly token: SecretFile<string | null>;
  private ownServer: Server | null = null;

  constructor(
    private readonly host: HttpAdapterHost<FastifyAdapter>,
    private readonly metrics: MetricsService,
    private readonly process: ProcessMetricsService,
    private readonly dependencies: DependencyMetricsService,
    clock: Clock,
    @Inject(metricsConfig.KEY) private readonly config: MetricsSettings,
  ) {
    this.token = new SecretFile(clock, config.token, config.tokenFile, (text) =>
      readSecretValue('METRICS_TOKEN', text),
    );
  }

  async onModuleInit(): Promise<void> {
    const { port, host, token } = this.config;
    if (port === null && token === null) {
      return;
    }
    const server = this.host.httpAdapter.getInstance<FastifyInstance>();
    this.process.observe();
    this.dependencies.observe();
    this.measureRequests(server);
    if (port !== null) {
      await this.listen(port, host);
      return;
    }
    server.get(PATH, async (request, reply) => {
      if (!(await this.isAllowed(request.headers.authorization))) {
        sendError(reply, new AppError('invalid-token'), request.id);
        return reply;
      }
      const page = await this.metrics.registry.metrics();
      return reply.type(this.metrics.registry.contentType).send(page);
    });
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.ownServer !== null) {
      this.ownServer.closeAllConnections();
      this.ownServer.close();
      await once(this.ownServer, 'close');
    }
  }

  private async listen(port: number, host: string): Promise<void> {
    const limits = { headersTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS };
    const server = createServer(limits, (request, response) => {
      this.answer(request, response).catch(() => response.writeHead(500).end());
    });
    server.setTimeout(TIMEOUT_MS);
    boundConnections(server, MAX_CONNECTIONS);
    await listenOn({ port, host }, { port: 'METRICS_PORT', host: 'METRICS_HOST' }, (address) =>
      once(server.listen(address), 'listening'),
    );
    this.ownServer = server;
    const address = server.address();
    const actual = typeof address === 'object' ? address?.port : port;
    this.logger.log(`Metrics on port ${actual}`);
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isKnown = request.url === PATH && request.method === 'GET';
    if (!isKnown || !(await this.isAllowed(request.headers.authorization))) {
      response.writeHead(isKnown ? 401 : 404).end();
      return;
    }
    const page = await this.metrics.registry.metrics();
    response.writeHead(200, { 'content-type': this.metrics.registry.contentType }).end(page);
  }

  /** Compares hashes, so that the time reveals neither content nor length. */
  private async isAllowed(header: string | undefined): Promise<boolean> {
    const token = await this.token.current();
    return token === null || timingSafeEqual(sha256(bearerTokenFrom(header) ?? ''), sha256(token));
  }

  private measureRequests(server: FastifyInstance): void {
    server.addHook('onResponse', (request, reply, done) => {
      const { method, url } = request.routeOptions;
      this.metrics.requests.observe(
        {
          method: Array.isArray(method) ? 'many' : (method ?? 'none'),
          route: url ?? 'none',
          status: reply.statusCode,
        },
        reply.elapsedTime / 1000,
      );
      done();
    });
  }
}
