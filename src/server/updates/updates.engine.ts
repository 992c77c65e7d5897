import type { IncomingMessage, ServerResponse } from 'node:http';
import { Logger } from '@nestjs/common';
import { Server, type ErrorCallback, type Socket, type Transport } from 'engine.io';
import { WebSocketServer, type ServerOptions, type WebSocket } from 'ws';
import { answerBytes, refusalAnswer, requestIdFrom, toAppError } from '../http/error.filter.js';
import { AppError, invalidRequest } from '../../common/errors.js';
import { hasOneHost, ONE_HOST } from '../http/request-rules.js';
import { canonicalOrigin, isSameOrigin } from '../network/origins.js';
import type { HttpSettings } from '../config/http.config.js';
import type { UpdatesSettings } from '../config/updates.config.js';
import type { MetricsService } from '../metrics/metrics.service.js';
import type { ConnectionLimitsService, IncomingPacket } from './connection-limits.service.js';
import { CLOSING_MS } from './connection-transport.js';
import type { HandshakeService } from './handshake.service.js';

/** The revision of the Engine.IO protocol that Socket.IO 3 and 4 use. */
const PROTOCOL = '4';
/** Clients send nothing larger than a `ping`. */
const MAX_MESSAGE_BYTES = 16 * 1024;
/**
 * Messages are small: many fragments cost far more memory than their bytes. Pings count for the limit of messages,
 * whose refusal has a reason.
 */
const WEBSOCKET_LIMITS = {
  closeTimeout: CLOSING_MS,
  maxFragments: 64,
  maxBufferedChunks: 1024,
  maxPendingAutoPongs: 0,
};

/** A request as Engine.IO passes it on. */
interface UpdatesRequest extends IncomingMessage {
  readonly _query: Readonly<Record<string, string | undefined>>;
  /** Absent on an upgrade. */
  readonly res?: ServerResponse;
  readonly websocket?: WebSocket;
}

type Problem = readonly [path: string, message: string];

/** Problems of a request, by Engine.IO's error code. */
const PROBLEMS: Readonly<Record<number, Problem>> = {
  [Server.errors.UNKNOWN_TRANSPORT]: ['transport', 'Not offered here.'],
  [Server.errors.UNKNOWN_SID]: ['sid', 'Not known: start again without it.'],
  [Server.errors.BAD_HANDSHAKE_METHOD]: ['method', 'Use GET.'],
};
const OTHER_PROBLEM: Problem = ['transport', 'Does not fit the request.'];

/**
 * Engine.IO with admission at the HTTP request, and refusals in the contract's format. Of its own
 * hooks, `allowRequest` accepts only a text, and others answer by themselves.
 */
export class UpdatesEngine extends Server {
  private readonly logger = new Logger('Updates');

  constructor(
    private readonly admission: HandshakeService,
    private readonly limits: ConnectionLimitsService,
    private readonly metrics: MetricsService,
    private readonly http: HttpSettings,
    { transports }: UpdatesSettings,
  ) {
    super({
      transports: [...transports],
      maxHttpBufferSize: MAX_MESSAGE_BYTES,
      httpCompression: false,
      perMessageDeflate: false,
      wsEngine: BoundedWebSocketServer,
      // Browsers send a preflight before a request, but not before a WebSocket.
      ...(transports.includes('polling') && {
        cors: { origin: http.corsOrigins.includes('*') ? '*' : [...http.corsOrigins] },
      }),
    });
    // Engine.IO's listener on the socket keeps the response of an upgrade, which needs its request no longer.
    this.use((request: UpdatesRequest, response: object, next: () => void) => {
      if (request.res === undefined) {
        Object.assign(response, { req: null });
      }
      next();
    });
    this.on('connection', (connection: Socket) => limits.opened(connection));
  }

  protected override verify(
    request: UpdatesRequest,
    isUpgrade: boolean,
    proceed: ErrorCallback,
  ): void {
    // Node passes the socket of an upgrade without an error listener.
    if (isUpgrade) {
      request.socket.on('error', ignore);
    }
    const { sid } = request._query;
    // Checked first: it is the cheapest check, counts for no limit, and answers a client on each
    // transport that it tries.
    const busy = sid ? null : this.admission.refusalNow();
    if (busy !== null) {
      this.refuse(request, busy);
      return;
    }
    super.verify(request as Parameters<Server['verify']>[0], isUpgrade, (code) => {
      const problem =
        code === undefined
          ? this.problemWith(request, isUpgrade)
          : (PROBLEMS[code] ?? OTHER_PROBLEM);
      if (problem !== null) {
        this.refuse(request, invalidRequest(...problem));
      } else if (sid) {
        proceed();
      } else {
        this.admit(request).then(
          () => proceed(),
          (error: unknown) => this.refuse(request, toAppError(error)),
        );
      }
    });
  }

  /**
   * Nothing else stops a foreign page: browsers send its origin with a WebSocket (ASVS 4.4.2). React
   * Native sends the address of the server as the origin.
   */
  private async admit(request: UpdatesRequest): Promise<void> {
    const { origin, host } = request.headers;
    const { corsOrigins } = this.http;
    const isAllowed =
      origin === undefined ||
      corsOrigins.includes('*') ||
      corsOrigins.includes(canonicalOrigin(origin) ?? '') ||
      isSameOrigin(origin, host);
    if (!isAllowed) {
      throw new AppError('origin-not-allowed');
    }
    await this.admission.admit(request);
  }

  /** Counts packets of any transport, including one that replaces another. */
  protected override createTransport(
    name: Parameters<Server['upgrades']>[0],
    request: UpdatesRequest,
  ): Transport {
    const transport = super.createTransport(name, request);
    // A listener that used the request would keep it for as long as the connection.
    const { sid } = request._query;
    const take = (packet?: IncomingPacket): void => {
      const connection = this.clients[sid || transport.sid];
      if (connection !== undefined) {
        this.limits.take(connection, packet);
      }
    };
    const takeControlFrame = (): void => take();
    transport.on('packet', take);
    request.websocket?.on('ping', takeControlFrame).on('pong', takeControlFrame);
    if (name === 'polling') {
      // Otherwise it would keep the session of a client that stops polling for 30 s; there is no
      // option for it.
      Object.assign(transport, { closeTimeout: CLOSING_MS });
    }
    return transport;
  }

  /** Finds problems that Engine.IO reports too late, or not at all. */
  private problemWith(request: UpdatesRequest, isUpgrade: boolean): Problem | null {
    const { EIO, sid, transport } = request._query;
    if (!hasOneHost(request)) {
      return ['host', ONE_HOST];
    }
    if (EIO !== PROTOCOL) {
      return ['EIO', `Use ${PROTOCOL}.`];
    }
    if (isUpgrade && transport !== 'websocket') {
      return ['transport', 'An upgrade is for websocket.'];
    }
    if (isUpgrade && sid && this.clients[sid]?.transport.name !== 'polling') {
      return ['sid', 'Has a WebSocket already.'];
    }
    return request.method === 'GET' || request.method === 'POST' ? null : ['method', 'Use GET.'];
  }

  private refuse(request: UpdatesRequest, refusal: AppError): void {
    this.metrics.handshakesRefused.inc({ code: refusal.code });
    const requestId = requestIdFrom(request.headers['x-request-id']);
    this.logger.debug({ msg: 'handshake refused', code: refusal.code, requestId });
    if (request.res === undefined) {
      refuseUpgrade(request, refusal, requestId);
      return;
    }
    const { status, headers, body } = refusalAnswer(refusal, requestId);
    request.res.writeHead(status, headers).end(body);
  }
}

/** Answers an upgrade request with a refusal, then closes its connection. */
export function refuseUpgrade(
  { socket, headers }: IncomingMessage,
  refusal: AppError,
  requestId = requestIdFrom(headers['x-request-id']),
): void {
  socket.on('error', ignore);
  // A client that does not read the answer does not keep the connection.
  socket.setTimeout(CLOSING_MS, () => socket.destroy());
  socket.end(answerBytes(refusalAnswer(refusal, requestId)), () => socket.destroy());
}

class BoundedWebSocketServer extends WebSocketServer {
  constructor(options: ServerOptions) {
    super({ ...options, ...WEBSOCKET_LIMITS });
    this.on('wsClientError', (error, _socket, request) =>
      refuseUpgrade(request, invalidRequest('upgrade', error.message)),
    );
  }
}

function ignore(): void {
  // The connection is closed in any case.
}
