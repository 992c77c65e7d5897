import { randomBytes } from 'node:crypto';
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
/** A handshake that began before the files changed has ended by then. */
const UNSURE_MS = HANDSHAKE_TIMEOUT_MS + 1000;
const HEADERS_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
const TICKET_KEY_BYTES = 48;
const DRAIN_STEP_MS = 20;

/**
 * The second port: TLS that ends here, with a client certificate or not at all. It serves what the
 * first one serves, live updates too. Who the client is comes from the socket alone.
 *
 * A resumed session brings the certificate of the handshake it began with; tickets are worth
 * nothing after the files changed, so that a revoked certificate cannot live on in one.
 */
@Injectable()
export class TlsListener implements BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly logger = new Logger('ClientCertificates');
  /** Connections of this port, with the files they were verified against. */
  private readonly generations = new WeakMap<object, number>();
  private server: Server | null = null;
  private underWay = 0;
  private changedAt = -Infinity;

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
      this.generations.set(socket, this.generationNow());
    });
    server.on('upgrade', (...upgrade) => main.emit('upgrade', ...upgrade));
    server.on('clientError', (...failure) => main.emit('clientError', ...failure));
    server.on('tlsClientError', (error) =>
      this.logger.debug(`Handshake refused: ${error.message}`),
    );
    this.files.onChange((loaded) => {
      this.changedAt = performance.now();
      renew(server, loaded);
    });
    server.listen(mtls.tlsPort, http.host);
    await once(server, 'listening');
    this.server = server;
    const { address, family, port } = server.address() as AddressInfo;
    const host = family === 'IPv6' ? `[${address}]` : address;
    this.logger.log(`Asking for client certificates on https://${host}:${port}`);
  }

  /** The connection and the files it was verified against; null when it is not of this port. */
  connectionOf({ socket }: IncomingMessage): { socket: TLSSocket; generation: number } | null {
    const generation = this.generations.get(socket);
    return generation !== undefined && socket instanceof TLSSocket && socket.authorized
      ? { socket, generation }
      : null;
  }

  /**
   * Of the files that a handshake which ends now was verified against: OpenSSL takes them when the
   * connection opens, so soon after a change they may be the ones before.
   */
  private generationNow(): number {
    const { generation } = this.files.current();
    return performance.now() - this.changedAt > UNSURE_MS ? generation : generation - 1;
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
    ticketKeys: randomBytes(TICKET_KEY_BYTES),
  };
}

/** New handshakes use the new files; connections that are open stay open. */
function renew(server: Server, loaded: LoadedFiles): void {
  const options = secureContext(loaded);
  server.setSecureContext(options);
  if (Buffer.isBuffer(options.ticketKeys)) {
    server.setTicketKeys(options.ticketKeys);
  }
}
