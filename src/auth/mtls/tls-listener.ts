import { constants } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import { createServer, type Server, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { SETTINGS, type Settings } from '../../config/settings.js';
import { CertificateFiles, type LoadedFiles } from './certificate-files.js';

const HANDSHAKE_TIMEOUT_MS = 10_000;
const HEADERS_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
const DRAIN_STEP_MS = 20;

/**
 * The second port: TLS that ends here, with a client certificate or not at all. It serves what the
 * first one serves, live updates too. Who the client is comes from the socket alone.
 *
 * Sessions are not resumed: a resumed one has the client's certificate without those above it, and
 * the chain is validated again at every login (RFC 8446, 2.2).
 */
@Injectable()
export class TlsListener implements BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly logger = new Logger('ClientCertificates');
  private readonly sockets = new WeakSet<object>();
  private server: Server | null = null;
  private underWay = 0;

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly files: CertificateFiles,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** Listens where direct mode is on; call it when the first port is open. */
  async listen(): Promise<void> {
    const { http, mtls } = this.settings;
    if (!mtls.enabled || mtls.mode !== 'direct' || mtls.tlsPort === null) {
      return;
    }
    const main = this.adapterHost.httpAdapter.getHttpServer() as HttpServer;
    const server = createServer(this.options(), (request, response) => {
      this.serve(main, request, response);
    });
    server.maxConnections = main.maxConnections;
    server.on('secureConnection', (socket) => {
      this.sockets.add(socket);
    });
    server.on('upgrade', (...upgrade) => main.emit('upgrade', ...upgrade));
    server.on('clientError', (...failure) => main.emit('clientError', ...failure));
    server.on('tlsClientError', (error) =>
      this.logger.debug(`Handshake refused: ${error.message}`),
    );
    // New handshakes use the new files; connections that are open stay open.
    this.files.onChange((loaded) => server.setSecureContext(secureContext(loaded)));
    server.listen(mtls.tlsPort, http.host);
    await once(server, 'listening');
    this.server = server;
    const { address, family, port } = server.address() as AddressInfo;
    const host = family === 'IPv6' ? `[${address}]` : address;
    this.logger.log(`Asking for client certificates on https://${host}:${port}`);
  }

  /** The connection when it is of this port, and its handshake accepted a certificate. */
  socketOf({ socket }: IncomingMessage): TLSSocket | null {
    return this.sockets.has(socket) && socket instanceof TLSSocket && socket.authorized
      ? socket
      : null;
  }

  /** Lets requests that are under way finish before anything they use is closed. */
  async beforeApplicationShutdown(): Promise<void> {
    this.server?.close();
    while (this.underWay > 0) {
      await sleep(DRAIN_STEP_MS);
    }
  }

  onApplicationShutdown(): void {
    this.server?.closeAllConnections();
  }

  private serve(main: HttpServer, request: IncomingMessage, response: ServerResponse): void {
    this.underWay += 1;
    response.once('close', () => {
      this.underWay -= 1;
    });
    main.emit('request', request, response);
  }

  private options(): ServerOptions {
    return {
      ...secureContext(this.files.current()),
      requestCert: true,
      rejectUnauthorized: true,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      requestTimeout: this.settings.http.requestTimeoutMs,
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
