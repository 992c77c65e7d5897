import type { IncomingMessage, ServerResponse } from 'node:http';
import { Logger } from '@nestjs/common';
import { Server, type ErrorCallback, type Socket, type Transport } from 'engine.io';
import { WebSocketServer, type ServerOptions, type WebSocket } from 'ws';
import { answerBytes, refusalAnswer, requestIdFrom, toAppError } from '../common/error.filter.js';
import { invalidRequest, type AppError } from '../common/errors.js';
import type { Metrics } from '../metrics/metrics.js';
import type { ConnectionLimits, IncomingPacket } from './connection-limits.js';
import { CLOSING_MS } from './connection-transport.js';
import type { ConnectionPolicy } from './handshake.js';
import type { HandshakeQueue } from './handshake-queue.js';

/** The revision of the Engine.IO protocol that Socket.IO 3 and 4 speak. */
const PROTOCOL = '4';
/** A message is small: in many pieces it costs far more memory than its bytes. */
const WEBSOCKET_LIMITS = { closeTimeout: CLOSING_MS, maxFragments: 64, maxBufferedChunks: 1024 };

/** A request as Engine.IO hands it on. */
interface UpdatesRequest extends IncomingMessage {
  readonly _query: Readonly<Record<string, string | undefined>>;
  /** Not on an upgrade. */
  readonly res?: ServerResponse;
  readonly websocket?: WebSocket;
}

type Problem = readonly [path: string, message: string];

/** What is wrong with a request, by Engine.IO's error code. */
const PROBLEMS: Readonly<Record<number, Problem>> = {
  [Server.errors.UNKNOWN_TRANSPORT]: ['transport', 'Not offered here.'],
  [Server.errors.UNKNOWN_SID]: ['sid', 'Not known: start again without it.'],
  [Server.errors.BAD_HANDSHAKE_METHOD]: ['method', 'Use GET.'],
};
const OTHER_PROBLEM: Problem = ['transport', 'Does not fit the request.'];

/**
 * Engine.IO with admission at the HTTP request and refusals in the contract's shape. Its own hooks
 * do not suffice: `allowRequest` passes on a text only, and after `connection_error` Engine.IO
 * still answers by itself.
 */
export class UpdatesEngine extends Server {
  private readonly logger = new Logger('Updates');

  constructor(
    options: ConstructorParameters<typeof Server>[0],
    private readonly policy: ConnectionPolicy,
    private readonly queue: HandshakeQueue,
    private readonly limits: ConnectionLimits,
    private readonly metrics: Metrics,
  ) {
    super({ ...options, wsEngine: BoundedWebSocketServer });
    this.on('connection', (connection: Socket) => {
      limits.opened(connection);
      connection.request.socket.uncork();
    });
  }

  protected override verify(
    request: UpdatesRequest,
    isUpgrade: boolean,
    proceed: ErrorCallback,
  ): void {
    // Node hands a socket over for an upgrade without an error listener.
    if (isUpgrade) {
      request.socket.on('error', ignore);
    }
    const { sid } = request._query;
    // First of all: it costs least, counts for no limit, and a client that tries each transport gets it.
    const busy = sid ? null : this.queue.refusalNow();
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
        this.policy.admit(request).then(
          () => this.open(request, proceed),
          (error: unknown) => this.refuse(request, toAppError(error)),
        );
      }
    });
  }

  /** Counts what arrives on any transport, also on one that is to replace another. */
  protected override createTransport(
    name: Parameters<Server['upgrades']>[0],
    request: UpdatesRequest,
  ): Transport {
    const transport = super.createTransport(name, request);
    const take = (packet?: IncomingPacket): void => {
      const connection = this.clients[request._query['sid'] || transport.sid];
      if (connection !== undefined) {
        this.limits.take(connection, packet);
      }
    };
    const takeControlFrame = (): void => take();
    transport.on('packet', take);
    request.websocket?.on('ping', takeControlFrame).on('pong', takeControlFrame);
    if (name === 'polling') {
      // It would hold a session whose client does not ask again for 30 s, and has no option for it.
      Object.assign(transport, { closeTimeout: CLOSING_MS });
    }
    return transport;
  }

  /** What Engine.IO finds too late, or not at all. */
  private problemWith(request: UpdatesRequest, isUpgrade: boolean): Problem | null {
    const { EIO, sid, transport } = request._query;
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

  /** The answer and Engine.IO's first packet leave by one write: a write is a tenth of a handshake. */
  private open(request: UpdatesRequest, proceed: ErrorCallback): void {
    if (request.res === undefined) {
      request.socket.cork();
    }
    proceed();
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

/** Answers a request to upgrade with a refusal, then closes its connection. */
export function refuseUpgrade(
  { socket, headers }: IncomingMessage,
  refusal: AppError,
  requestId = requestIdFrom(headers['x-request-id']),
): void {
  socket.on('error', ignore);
  // A client that does not take the answer does not hold the connection.
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
  // The connection is closed either way.
}
