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
import type { ConfigType } from '@nestjs/config';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { LISTEN_BACKLOG } from '../../common/network/backlog.js';
import { pollUntil } from '../../common/poll-until.js';
import { httpConfig } from '../../config/http.config.js';
import { mtlsConfig } from '../../config/mtls.config.js';
import {
  CertificateFiles,
  type LoadedFiles,
} from '../../providers/certificate/certificate-files.js';

const HANDSHAKE_TIMEOUT_MS = 10_000;
const HEADERS_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

/**
 * The second port: TLS that ends here and requires a client certificate. It serves the same routes as
 * the first one, live updates too. The identity comes from the socket alone.
 *
 * Sessions are not resumed: a resumed one has the client's certificate without those above it, and
 * the chain is validated again at every login (RFC 8446, 2.2).
 */
@Injectable()
export class TlsListener
  implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown
{
  private readonly logger = new Logger('ClientCertificates');
  private readonly sockets = new WeakSet<object>();
  private server: Server | null = null;
  private running = 0;

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly files: CertificateFiles,
    @Inject(httpConfig.KEY) private readonly http: ConfigType<typeof httpConfig>,
    @Inject(mtlsConfig.KEY) private readonly mtls: ConfigType<typeof mtlsConfig>,
  ) {}

  /** Listens in direct mode. */
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
    server.on('clientError', (...failure) => main.emit('clientError', ...failure));
    server.on('tlsClientError', (error) =>
      this.logger.debug(`Handshake refused: ${error.message}`),
    );
    // New handshakes use the new files; open connections stay open.
    this.files.onChange((loaded) => server.setSecureContext(secureContext(loaded)));
    server.listen({ port: mtls.tlsPort, host: http.host, backlog: LISTEN_BACKLOG });
    await once(server, 'listening');
    this.server = server;
    const { address, family, port } = server.address() as AddressInfo;
    const host = family === 'IPv6' ? `[${address}]` : address;
    this.logger.log(`Asking for client certificates on https://${host}:${port}`);
  }

  /** The connection, when it is of this port and its handshake accepted a certificate. */
  socketOf({ socket }: IncomingMessage): TLSSocket | null {
    return this.sockets.has(socket) && socket instanceof TLSSocket && socket.authorized
      ? socket
      : null;
  }

  /** Waits for running requests before anything they use is closed. */
  async beforeApplicationShutdown(): Promise<void> {
    this.server?.close();
    await pollUntil(() => this.running === 0);
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
    minVersion: 'TLSv1.2',
    allowPartialTrustChain: true,
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}
