import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Interval } from '@nestjs/schedule';
import type { Socket } from 'engine.io';
import { ClientAddress } from '../auth/rate-limits.js';
import { addressGroup } from '../common/network/addresses.js';
import { AppError, invalidRequest } from '../common/errors.js';
import { requestIdFrom } from '../common/error.filter.js';
import { updatesConfig } from '../config/updates.config.js';
import { closeAfterSending, terminate, unsentBytes } from './connection-transport.js';
import { LiveConnections } from './live-connections.js';
import { connectError, type UpdatesSocket } from './updates.events.js';

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
 * The connections that have not authenticated: a budget of their own, of the process and of each
 * address. The newest is always accepted and the oldest is closed for it: a client that holds a token
 * needs its place for a moment only, and an attacker's connections are the ones that wait.
 */
@Injectable()
export class UnauthenticatedConnections {
  /** Each with the group of its address, oldest first. */
  private readonly groupOf = new Map<Socket, string>();
  private readonly byGroup = new Map<string, Set<Socket>>();
  /** One function for all connections; Node calls it with the one that closed. */
  private readonly onClose: (this: Socket) => void;

  constructor(
    private readonly addresses: ClientAddress,
    @Inject(updatesConfig.KEY) private readonly config: ConfigType<typeof updatesConfig>,
  ) {
    const forget = (connection: Socket): void => this.release(connection);
    this.onClose = function (this: Socket) {
      forget(this);
    };
  }

  /** Counts a connection until it closes or is released. */
  add(connection: Socket): void {
    const group = addressGroup(this.addresses.of(connection.request));
    const { maxUnauthenticated, maxUnauthenticatedPerIp } = this.config;
    const same = this.byGroup.get(group) ?? new Set();
    this.groupOf.set(connection, group);
    this.byGroup.set(group, same.add(connection));
    connection.on('close', this.onClose);
    if (same.size > maxUnauthenticatedPerIp) {
      this.closeFirst(same);
    } else if (this.groupOf.size > maxUnauthenticated) {
      this.closeFirst(this.groupOf.keys());
    }
  }

  /** The connection has authenticated, or is closed. */
  release(connection: Socket): void {
    const group = this.groupOf.get(connection);
    if (group === undefined) {
      return;
    }
    connection.off('close', this.onClose);
    this.groupOf.delete(connection);
    const same = this.byGroup.get(group);
    same?.delete(connection);
    if (same?.size === 0) {
      this.byGroup.delete(group);
    }
  }

  private closeFirst(connections: Iterable<Socket>): void {
    for (const oldest of connections) {
      this.release(oldest);
      terminate(oldest);
      return;
    }
  }
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
        this.refuse(connection, namespace, invalidRequest('namespace', 'Connect once, to /.'));
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
