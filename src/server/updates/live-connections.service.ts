import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { Socket as Connection } from 'engine.io';
import { AuthService, type Access } from '../auth/auth.service.js';
import { IdentityEvents, type AccessChange } from '../auth/identity.events.js';
import { shareOfSession } from '../auth/session-share.js';
import { AppError } from '../../common/errors.js';
import { millisecondsSince } from '../../common/runtime/moment.js';
import { Runtime } from '../../common/runtime/runtime.js';
import { authConfig, type AuthSettings } from '../config/auth.config.js';
import { updatesConfig, type UpdatesSettings } from '../config/updates.config.js';
import { CONNECTION_CHECK_MS } from '../../core/policy/admission/revocation.js';
import { CLOSING_MS, closeForRestart } from './connection-transport.js';
import {
  bodyOnConnection,
  type UpdateBody,
  type UpdatesServer,
  type UpdatesSocket,
} from './updates.events.js';

/** Delay for the clients of a server that stops: the waves have spread them already. */
export const RETRY_AFTER_DRAIN_SECONDS = 1;
/** Delay for the clients of connections that cannot be checked. */
const RETRY_UNCHECKED_SECONDS = 5;
const RETRY_WHEN_FULL_SECONDS = 10;
const WAVE_MS = 100;
/** A drain of few connections takes this long per connection, less than its limit. */
const MS_PER_CONNECTION = 5;

const accountRoom = (accountId: string): string => `account:${accountId}`;
const sessionRoom = (sessionId: string): string => `session:${sessionId}`;

@Injectable()
export class LiveConnectionsService implements OnModuleInit {
  private server: UpdatesServer | null = null;
  private draining = false;
  private readonly beforeSending: OutgoingListener;

  constructor(
    private readonly auth: AuthService,
    private readonly runtime: Runtime,
    private readonly events: IdentityEvents,
    @Inject(authConfig.KEY) private readonly rules: AuthSettings,
    @Inject(updatesConfig.KEY) private readonly limits: UpdatesSettings,
  ) {
    this.beforeSending = listenerOf((socket, event, seq) => this.noteSent(socket, event, seq));
  }

  onModuleInit(): void {
    for (const t of ['push-tokens-changed', 'identities-changed', 'program-granted'] as const) {
      this.events.on(t, (accountId, seq) => this.publish(accountId, seq, { t }));
    }
  }

  bind(server: UpdatesServer): void {
    this.server = server;
  }

  get total(): number {
    return this.server?.of('/').adapter.sids.size ?? 0;
  }

  /** True while this process stops and accepts no new connections. */
  get isDraining(): boolean {
    return this.draining;
  }

  all(): UpdatesSocket[] {
    return [...(this.server?.of('/').sockets.values() ?? [])];
  }

  of(accountId: string): UpdatesSocket[] {
    const namespace = this.server?.of('/');
    const ids = namespace?.adapter.rooms.get(accountRoom(accountId)) ?? [];
    return [...ids].flatMap((id) => namespace?.sockets.get(id) ?? []);
  }

  countOf(accountId: string): number {
    return this.sizeOf(accountRoom(accountId));
  }

  /** @throws AppError `unavailable` at the limit of authenticated connections per process */
  requireCapacity(): void {
    if (this.total >= this.limits.maxConnections) {
      throw new AppError('unavailable', { retryAfterSeconds: RETRY_WHEN_FULL_SECONDS });
    }
  }

  /**
   * Registers the connection for updates, until it ends. It never waits, so that simultaneous handshakes
   * cannot exceed the limits.
   * @throws AppError `rate-limited` at the limit of the account or of the session, and as {@link requireCapacity}
   */
  join(socket: UpdatesSocket, access: Access): void {
    if (this.isAtLimit(access)) {
      throw new AppError('rate-limited', { retryAfterSeconds: RETRY_WHEN_FULL_SECONDS });
    }
    this.requireCapacity();
    socket.data = { access, isDue: true, sentSeq: 0, storedSeq: 0 };
    socket.onAnyOutgoing(this.beforeSending);
    void socket.join([accountRoom(access.accountId), sessionRoom(access.sessionId)]);
  }

  /**
   * Sends `hello` to a client that has joined, so that no update is lost between the two.
   * @throws AppError `token-revoked` when the account is deleted, `unavailable`
   */
  async welcome(socket: UpdatesSocket): Promise<void> {
    const { accountId } = socket.data.access;
    socket.emit('hello', { accountId, seq: await this.auth.updateSeqOf(accountId) });
  }

  /**
   * Sends `hello` again for updates that were stored before the previous check but not sent.
   * @param storedSeq the account's newest update now
   */
  catchUp(socket: UpdatesSocket, storedSeq: number): void {
    const { access, sentSeq, storedSeq: seq } = socket.data;
    if (seq > sentSeq) {
      socket.emit('hello', { accountId: access.accountId, seq });
    }
    socket.data.storedSeq = storedSeq;
  }

  /** Ends one connection and sends the client the reason. */
  close(socket: UpdatesSocket, reason: AppError): void {
    socket.emit('closing', bodyOnConnection(reason));
    socket.disconnect(true);
    this.closeAfterSending(socket.conn);
  }

  /** Ends a connection once everything queued is sent, or {@link CLOSING_MS} later. */
  closeAfterSending(connection: Connection): void {
    connection.close();
    // Otherwise Engine.IO waits for the heartbeat timeout of a client that does not read.
    if (connection.readyState === 'closing') {
      this.runtime.timers.after(CLOSING_MS, () => connection.close(true));
    }
  }

  /**
   * Sends a change to the account's clients on every replica, also to those that wait for a request.
   * This replica sends it to its own within the call, because their connections may be closed next:
   * the adapter would wait for the answer of Redis.
   *
   * @param seq taken in the transaction of the change
   */
  publish(accountId: string, seq: number, body: UpdateBody): void {
    const { clock, random } = this.runtime;
    const update = { id: random.uuid(), seq, createdAt: clock.now(), body };
    const room = accountRoom(accountId);
    const served = this.of(accountId).map(({ id }) => id);
    this.server?.local.to(room).emit('update', update);
    this.server?.to(room).except(served).emit('update', update);
    if ('requestId' in body) {
      this.events.announceRequestChange({ accountId, requestId: body.requestId });
    }
  }

  /** Closes the connections that an access change affects. */
  apply({ accountId, sessionId, closes, provider }: AccessChange): void {
    if (closes === undefined) {
      return;
    }
    for (const socket of this.of(accountId)) {
      if (sessionId === undefined || socket.data.access.sessionId === sessionId) {
        this.close(socket, new AppError(closes, provider === undefined ? {} : { provider }));
      }
    }
  }

  private isAtLimit({ accountId, sessionId }: Access): boolean {
    const most = this.limits.maxConnectionsPerAccount;
    const own = this.sizeOf(sessionRoom(sessionId));
    return own >= shareOfSession(most) || this.countOf(accountId) >= most;
  }

  /** Counts connections that are being accepted, too. */
  private sizeOf(room: string): number {
    return this.server?.of('/').adapter.rooms.get(room)?.size ?? 0;
  }

  /**
   * Closes a connection in place of sending it an update if its session expired, or if its last check is too
   * old: its access may have ended. Socket.IO sends nothing on a connection that is closed here.
   */
  private noteSent(socket: UpdatesSocket, event: string, seq: number): void {
    const refusal = event === 'update' ? this.refusalOf(socket.data.access) : null;
    if (refusal === null) {
      socket.data.sentSeq = Math.max(socket.data.sentSeq, seq);
    } else {
      this.close(socket, refusal);
    }
  }

  private refusalOf({ readAt, expiresAt }: Access): AppError | null {
    const { clock } = this.runtime;
    if (expiresAt <= clock.now()) {
      return new AppError('token-expired');
    }
    return millisecondsSince(readAt, clock) > this.rules.revocationBoundMs
      ? new AppError('unavailable', { retryAfterSeconds: RETRY_UNCHECKED_SECONDS })
      : null;
  }

  @Interval(CONNECTION_CHECK_MS)
  closeExpired(): void {
    const now = this.runtime.clock.now();
    for (const socket of this.all()) {
      if (socket.data.access.expiresAt <= now) {
        this.close(socket, new AppError('token-expired'));
      }
    }
  }

  /**
   * Ends every connection in waves, so that clients do not reconnect simultaneously.
   * @param spreadMs maximum duration
   */
  async drain(spreadMs: number): Promise<void> {
    this.draining = true;
    const reason = new AppError('unavailable', { retryAfterSeconds: RETRY_AFTER_DRAIN_SECONDS });
    const sockets = this.all();
    const waves = Math.ceil(Math.min(spreadMs, sockets.length * MS_PER_CONNECTION) / WAVE_MS);
    const size = Math.ceil(sockets.length / Math.max(waves, 1));
    for (let start = 0; start < sockets.length; start += size) {
      if (start > 0) {
        await this.runtime.timers.sleep(WAVE_MS);
      }
      for (const socket of sockets.slice(start, start + size)) {
        socket.emit('closing', bodyOnConnection(reason));
        closeForRestart(socket);
      }
    }
  }
}

type OutgoingListener = (
  this: UpdatesSocket,
  event: string,
  body: { readonly seq?: number },
) => void;

/** Makes one function for all connections, which Socket.IO calls with the sending one as `this`. */
function listenerOf(
  note: (socket: UpdatesSocket, event: string, seq: number) => void,
): OutgoingListener {
  return function (event, { seq = 0 }) {
    note(this, event, seq);
  };
}
