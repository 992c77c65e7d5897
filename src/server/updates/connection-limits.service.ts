import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { Socket } from 'engine.io';
import { Clock } from '../../common/runtime/clock.js';
import { AppError, invalidRequest } from '../../common/errors.js';
import { requestIdFrom } from '../http/error.filter.js';
import { unsentBytes } from './connection-transport.js';
import { LiveConnectionsService } from './live-connections.service.js';
import { UnauthenticatedConnectionsService } from './unauthenticated-connections.service.js';
import { connectError, type UpdatesSocket } from './updates.events.js';

/** Clients send a heartbeat every 25 s, and an occasional `ping`. */
const MESSAGES_PER_SECOND = 20;
const BURST = 100;
const STEP_MS = 1000 / MESSAGES_PER_SECOND;
/** About 300 updates. */
const MAX_UNSENT_BYTES = 64 * 1024;
const UNSENT_CHECK_MS = 1000;
const RETRY_SECONDS = 10;
/** Packet type of the Socket.IO protocol, revision 5. */
const CONNECT = '0';

/** The inspected fields of an Engine.IO packet. Its parser calls a malformed one an `error`. */
export interface IncomingPacket {
  readonly type: string;
  readonly data?: unknown;
}

interface ConnectionState {
  /** Time until which the messages so far use up the rate, on the monotonic clock. */
  usedUntilMs: number;
  hasConnected: boolean;
  /** null until the connection has authenticated. */
  socket: UpdatesSocket | null;
}

/**
 * Limits messages, bytes and unread answers of one connection. Checks each packet before Socket.IO
 * does, and once a second what is not sent: the rate bounds what it can become.
 */
@Injectable()
export class ConnectionLimitsService {
  private readonly states = new WeakMap<Socket, ConnectionState>();

  constructor(
    private readonly connections: LiveConnectionsService,
    private readonly unauthenticated: UnauthenticatedConnectionsService,
    private readonly clock: Clock,
  ) {}

  opened(connection: Socket): void {
    this.unauthenticated.add(connection);
  }

  /** Counts a packet, or without one a control frame (RFC 6455, 5.5). Closes above the limit. */
  take(connection: Socket, packet?: IncomingPacket): void {
    if (connection.readyState !== 'open') {
      return;
    }
    const state = this.stateOf(connection);
    const namespace = connectNamespace(packet);
    const now = this.clock.elapsed();
    state.usedUntilMs = Math.max(state.usedUntilMs, now) + STEP_MS;
    if (state.usedUntilMs - now > BURST * STEP_MS) {
      this.refuse(connection, namespace ?? '/', tooMuch());
    } else if (packet?.type === 'error') {
      this.refuse(connection, '/', malformed());
    } else if (namespace !== null) {
      if (state.hasConnected || namespace !== '/') {
        this.refuse(connection, namespace, invalidRequest('namespace', 'Connect once, to /.'));
      }
      state.hasConnected = true;
    }
  }

  /** Sends refusals as `closing` from here on, and frees the memory of the HTTP request, which Engine.IO keeps. */
  authenticated(socket: UpdatesSocket): void {
    this.stateOf(socket.conn).socket = socket;
    this.unauthenticated.release(socket.conn);
    Object.assign(socket.conn, { request: null });
    // Clients may send an event of this name, without an Error.
    socket.on('error', (error: unknown) => {
      if (error instanceof Error) {
        this.connections.close(socket, malformed());
      }
    });
  }

  @Interval(UNSENT_CHECK_MS)
  closeUnread(): void {
    for (const socket of this.connections.all()) {
      if (unsentBytes(socket.conn) > MAX_UNSENT_BYTES) {
        this.connections.close(socket, tooMuch());
      }
    }
  }

  private refuse(connection: Socket, namespace: string, refusal: AppError): void {
    const { socket } = this.stateOf(connection);
    if (socket !== null) {
      this.connections.close(socket, refusal);
      return;
    }
    // Socket.IO has no socket for the connection yet, so the packet is written here.
    const requestId = requestIdFrom(connection.request.headers['x-request-id']);
    const { message, data } = connectError(refusal, requestId);
    const prefix = namespace === '/' ? '' : `${namespace},`;
    connection.write(`4${prefix}${JSON.stringify({ message, data })}`);
    this.connections.closeAfterSending(connection);
  }

  private stateOf(connection: Socket): ConnectionState {
    let state = this.states.get(connection);
    if (state === undefined) {
      state = { usedUntilMs: 0, hasConnected: false, socket: null };
      this.states.set(connection, state);
    }
    return state;
  }
}

const tooMuch = (): AppError => new AppError('rate-limited', { retryAfterSeconds: RETRY_SECONDS });

const malformed = (): AppError =>
  invalidRequest(
    'packet',
    'Is no packet of Socket.IO, revision 5, in one of Engine.IO, revision 4.',
  );

/** Returns the namespace of a CONNECT packet; null for any other packet. */
function connectNamespace(packet: IncomingPacket | undefined): string | null {
  const { type, data } = packet ?? {};
  if (type !== 'message' || typeof data !== 'string' || !data.startsWith(CONNECT)) {
    return null;
  }
  return data[1] === '/' ? (data.slice(1).split(',', 1)[0] ?? '/') : '/';
}
