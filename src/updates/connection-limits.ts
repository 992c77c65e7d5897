import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { Socket } from 'engine.io';
import { AppError } from '../common/errors.js';
import { requestIdFrom } from '../common/request-id.js';
import { connectError } from './connection-refusal.js';
import { closeAfterSending, unsentBytes } from './connection-transport.js';
import { LiveConnections } from './live-connections.js';
import { UnauthenticatedConnections } from './unauthenticated-connections.js';
import type { UpdatesSocket } from './updates.events.js';

/** Clients send a heartbeat every 25 s, and a `ping` now and then. */
const MESSAGES_PER_SECOND = 20;
const BURST = 100;
const STEP_MS = 1000 / MESSAGES_PER_SECOND;
/** Some 300 updates. */
const MAX_UNSENT_BYTES = 64 * 1024;
const UNSENT_CHECK_MS = 1000;
const RETRY_SECONDS = 10;
/** Packet type of the Socket.IO protocol, revision 5. */
const CONNECT = '0';

/** A packet of Engine.IO, as far as it is looked at. */
export interface IncomingPacket {
  readonly type: string;
  readonly data?: unknown;
}

interface ConnectionState {
  /** Until when the messages so far use up the rate, on the clock of `performance.now`. */
  usedUntilMs: number;
  hasConnected: boolean;
  /** null until the connection has authenticated. */
  socket: UpdatesSocket | null;
}

/**
 * What one connection may send and leave unread. Looks at each packet before Socket.IO does, and
 * at what is not sent once a second: what can be asked for in that time is bounded by the rate.
 */
@Injectable()
export class ConnectionLimits {
  private readonly states = new WeakMap<Socket, ConnectionState>();

  constructor(
    private readonly connections: LiveConnections,
    private readonly unauthenticated: UnauthenticatedConnections,
  ) {}

  /** A connection that has not authenticated begins. */
  opened(connection: Socket): void {
    this.unauthenticated.add(connection);
  }

  /**
   * Counts a packet, or a control frame of the WebSocket (RFC 6455, 5.5) where none is given.
   * Closes the connection when it is one too many, or a second CONNECT.
   */
  take(connection: Socket, packet?: IncomingPacket): void {
    if (connection.readyState !== 'open') {
      return;
    }
    const state = this.stateOf(connection);
    const namespace = connectNamespace(packet);
    const now = performance.now();
    state.usedUntilMs = Math.max(state.usedUntilMs, now) + STEP_MS;
    if (state.usedUntilMs - now > BURST * STEP_MS) {
      this.refuse(connection, namespace ?? '/', tooMuch());
    } else if (namespace !== null) {
      if (state.hasConnected || namespace !== '/') {
        const details = [{ path: 'namespace', message: 'Connect once, to /.' }];
        this.refuse(connection, namespace, new AppError('invalid-request', { details }));
      }
      state.hasConnected = true;
    }
  }

  /** From now on a refusal is sent as `closing`. */
  authenticated(socket: UpdatesSocket): void {
    this.stateOf(socket.conn).socket = socket;
    this.unauthenticated.release(socket.conn);
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
    // Socket.IO has no socket for it, so the packet is written here.
    const requestId = requestIdFrom(connection.request.headers['x-request-id']);
    const { message, data } = connectError(refusal, requestId);
    const prefix = namespace === '/' ? '' : `${namespace},`;
    connection.write(`4${prefix}${JSON.stringify({ message, data })}`);
    closeAfterSending(connection);
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

/** The namespace that a CONNECT packet names; null when it is another packet. */
function connectNamespace(packet: IncomingPacket | undefined): string | null {
  const { type, data } = packet ?? {};
  if (type !== 'message' || typeof data !== 'string' || !data.startsWith(CONNECT)) {
    return null;
  }
  return data[1] === '/' ? (data.slice(1).split(',', 1)[0] ?? '/') : '/';
}
