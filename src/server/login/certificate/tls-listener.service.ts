import { constants } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, Server as HttpServer } from 'node:http';
import { createServer, type Server, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { TLSSocket } from 'node:tls';
import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { LISTEN_BACKLOG } from '../../network/backlog.js';
import { releaseEndedConnections } from '../../network/ended-connections.js';
import { listenOn } from '../../network/listen-host.js';
import { boundHandshakes, HANDSHAKE_TIMEOUT_MS } from '../../network/pending-handshakes.js';
import { pollUntil } from '../../../common/runtime/poll-until.js';
import { Timers } from '../../../common/runtime/timers.js';
import { httpConfig, type HttpSettings } from '../../config/http.config.js';
import { mtlsConfig, type MtlsSettings } from '../../config/mtls.config.js';
import { TLS_MIN_VERSION } from '../../config/tls/tls-files.js';
import type { LoadedFiles } from '../../providers/certificate/certificate-files.js';
import { CertificateFilesService } from '../../providers/certificate/certificate-files.service.js';

const VARIABLES = { port: 'SERVICE_FEATURE_AUTH_MTLS__TLS_PORT', host: 'HOST' };
const HEADERS_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

/** No session is resumed: it would lack the certificates above the client's (RFC 8446, 2.2). */
@Injectable()
export class TlsListenerService
  implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown
{
  private readonly logger = new Logger('ClientCertificates');
  private readonly sockets = new WeakSet<object>();
  private server: Server | null = null;
  private running = 0;

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly files: CertificateFilesService,
    private readonly timers: Timers,
    @Inject(httpConfig.KEY) private readonly http: HttpSettings,
    @Inject(mtlsConfig.KEY) private readonly mtls: MtlsSettings,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { http, mtls } = this;
    if (!mtls.enabled || mtls.mode !== 'direct' || mtls.tlsPort === null) {
      return;
    }
    // Before that a request would be served without hooks.
    await this.adapterHost.httpAdapter.getInstance<FastifyInstance>().ready();
    const main = this.adapterHost.httpAdapter.getHttpServer() as HttpServer;
    const server = createServer(this.options(), (request, response) => {
      this.running += 1;
      response.once('close', () => {
        this.running -= 1;
      });
      main.emit('request', request, response);
    });
    server.maxConnections = main.maxConnections;
    server.on('secureConnection', (socket) => this.sockets.add(socket));
    server.on('upgrade', (...upgrade) => main.emit('upgrade', ...upgrade));
    server.setTimeout(main.timeout);
    // A connection that could not be accepted, for want of descriptors, ends nothing else.
    server.on('error', (error) => this.logger.warn(error.message));
    boundHandshakes(server);
    releaseEndedConnections(server);
    server.on('clientError', (error, socket) => {
      if (this.sockets.has(socket)) {
        main.emit('clientError', error, socket);
        return;
      }
      // Before the handshake ends there is no answer to send: ending it would wait for ever.
      this.logger.debug(`Handshake refused: ${error.message}`);
      socket.destroy();
    });
    // New handshakes use the new files; open connections stay open.
    this.files.onChange((loaded) => server.setSecureContext(secureContext(loaded)));
    await listenOn({ port: mtls.tlsPort, host: http.host }, VARIABLES, (address) =>
      once(server.listen({ ...address, backlog: LISTEN_BACKLOG }), 'listening'),
    );
    this.server = server;
    this.logger.log(`Asking for client certificates on ${addressOf(server)}`);
  }

  /** @returns null for another port, or without an accepted certificate */
  socketOf({ socket }: IncomingMessage): TLSSocket | null {
    return this.sockets.has(socket) && socket instanceof TLSSocket && socket.authorized
      ? socket
      : null;
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.server?.close();
    await pollUntil(this.timers, () => this.running === 0);
  }

  onApplicationShutdown(): void {
    this.server?.closeAllConnections();
  }

  private options(): ServerOptions {
    return {
      ...secureContext(this.files.current()),
      requestCert: true,
      rejectUnauthorized: true,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      requestTimeout: this.http.requestTimeoutMs,
    };
  }
}

function secureContext({ tls }: LoadedFiles): ServerOptions {
  return {
    ...tls,
    minVersion: TLS_MIN_VERSION,
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}

function addressOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `https://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
