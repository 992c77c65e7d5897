import { Inject, Logger } from '@nestjs/common';
import {
  WebSocketGateway,
  type OnGatewayConnection,
  type OnGatewayDisconnect,
  type OnGatewayInit,
} from '@nestjs/websockets';
import { requestIdFrom, toAppError } from '../http/error.filter.js';
import { tracing } from '../../common/trace.js';
import { storageConfig, type StorageSettings } from '../config/storage.config.js';
import { MetricsService } from '../metrics/metrics.service.js';
import { IdentityEvents, type AccessChange, type RequestChange } from '../auth/identity.events.js';
import { HandshakeService } from './handshake.service.js';
import { LiveConnectionsService } from './live-connections.service.js';
import { connectError, type UpdatesServer, type UpdatesSocket } from './updates.events.js';

const HANDSHAKE = { name: 'handshake /v1/updates', kind: 'server', attributes: {} } as const;

/** A connection needs the authentication and eligibility of a request, and ends with them. */
@WebSocketGateway()
export class UpdatesGateway
  implements OnGatewayInit<UpdatesServer>, OnGatewayConnection, OnGatewayDisconnect
{
  private readonly logger = new Logger(UpdatesGateway.name);

  constructor(
    private readonly handshake: HandshakeService,
    private readonly connections: LiveConnectionsService,
    private readonly events: IdentityEvents,
    private readonly metrics: MetricsService,
    @Inject(storageConfig.KEY) private readonly config: StorageSettings,
  ) {}

  afterInit(server: UpdatesServer): void {
    this.connections.bind(server);
    server.use((socket, next) => {
      this.authenticate(socket).then(
        () => next(),
        (error: unknown) => {
          next(this.toConnectError(error, socket));
          // Socket.IO sends the refusal in the next tick, and would then accept a second CONNECT.
          process.nextTick(() => this.connections.closeAfterSending(socket.conn));
        },
      );
    });
    this.events.on('access-changed', (change) => this.connections.apply(change));
    if (this.config.redisUrl !== null) {
      this.events.on('access-change-announced', (change) =>
        server.serverSideEmit('access-changed', change),
      );
      server.on('access-changed', (change: AccessChange) =>
        this.events.receiveAccessChange(change),
      );
      this.events.on('request-change-announced', (change) =>
        server.serverSideEmit('request-changed', change),
      );
      server.on('request-changed', (change: RequestChange) =>
        this.events.emit('request-changed', change),
      );
      this.events.on('access-changes-dropped', () =>
        server.serverSideEmit('access-changes-missed'),
      );
      server.on('access-changes-missed', () => this.events.emit('access-changes-missed'));
    }
  }

  async handleConnection(socket: UpdatesSocket): Promise<void> {
    socket.on('ping', answerPing);
    await this.handshake.welcome(socket);
  }

  /** Closes the connection: without a socket it would neither end nor count for an account. */
  handleDisconnect(socket: UpdatesSocket): void {
    this.connections.closeAfterSending(socket.conn);
  }

  private authenticate(socket: UpdatesSocket): Promise<void> {
    const authenticate = (): Promise<void> => this.handshake.authenticate(socket);
    return tracing()?.run(HANDSHAKE, authenticate) ?? authenticate();
  }

  private toConnectError(error: unknown, socket: UpdatesSocket): Error {
    const refusal = toAppError(error);
    this.metrics.handshakesRefused.inc({ code: refusal.code });
    const requestId = requestIdFrom(socket.handshake.headers['x-request-id']);
    const facts = { msg: 'handshake refused', code: refusal.code, requestId };
    if (refusal.code === 'internal') {
      this.logger.error({ ...facts, error: error instanceof Error ? error.stack : undefined });
    } else {
      this.logger.debug(facts);
    }
    return connectError(refusal, requestId);
  }
}

function answerPing(...args: unknown[]): void {
  const answer = args.at(-1);
  if (typeof answer === 'function') {
    (answer as (pong: object) => void)({});
  }
}
