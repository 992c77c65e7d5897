import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { AuthService } from '../auth/auth.service.js';
import { IdentityEvents, type AccessChange } from '../auth/identity-events.js';
import { Clock } from '../common/clock.js';
import { AppError } from '../common/errors.js';
import { closeAfterSending, closeForRestart } from './connection-transport.js';
import {
  bodyOnConnection,
  type UpdateBody,
  type UpdatesServer,
  type UpdatesSocket,
} from './updates.events.js';

const EXPIRY_CHECK_MS = 10_000;
/** When clients of a server that stops reconnect: the waves have spread them already. */
export const RETRY_AFTER_DRAIN_SECONDS = 1;
const WAVE_MS = 100;
/** Few connections are closed in less time than there is. */
const MS_PER_CONNECTION = 5;

const roomOf = (accountId: string): string => `account:${accountId}`;

/** The connections of this process: who is connected, and how a connection ends. */
@Injectable()
export class LiveConnections {
  private server: UpdatesServer | null = null;
  private draining = false;

  constructor(
    private readonly auth: AuthService,
    private readonly clock: Clock,
    events: IdentityEvents,
  ) {
    events.on('identities-changed', (accountId, seq) =>
      this.publish(accountId, seq, { t: 'identities-changed' }),
    );
  }

  bind(server: UpdatesServer): void {
    this.server = server;
  }

  /** Connections that have authenticated. */
  get total(): number {
    return this.server?.of('/').adapter.sids.size ?? 0;
  }

  /** Whether this process stops, and takes no new connections. */
  get isDraining(): boolean {
    return this.draining;
  }

  all(): UpdatesSocket[] {
    return [...(this.server?.of('/').sockets.values() ?? [])];
  }

  of(accountId: string): UpdatesSocket[] {
    const namespace = this.server?.of('/');
    const ids = namespace?.adapter.rooms.get(roomOf(accountId)) ?? [];
    return [...ids].flatMap((id) => namespace?.sockets.get(id) ?? []);
  }

  countOf(accountId: string): number {
    return this.server?.of('/').adapter.rooms.get(roomOf(accountId))?.size ?? 0;
  }

  /** Counts the connection and sends it updates, until it ends. */
  join(socket: UpdatesSocket): void {
    socket.onAnyOutgoing(noteSent);
    void socket.join(roomOf(socket.data.access.accountId));
  }

  /**
   * Sends `hello` to a client that has joined: no update can be lost between the two.
   *
   * @throws AppError `token-revoked` when the account is gone, `unavailable`
   */
  async welcome(socket: UpdatesSocket): Promise<void> {
    const { accountId } = socket.data.access;
    socket.emit('hello', { accountId, seq: await this.auth.updateSeqOf(accountId) });
  }

  /**
   * Sends `hello` again for updates that should have been sent before: those that were stored when
   * storage was asked the time before.
   *
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
    closeAfterSending(socket.conn);
  }

  /**
   * Sends the account's clients, on every replica, what changed.
   *
   * @param seq taken in the transaction that made the change
   */
  publish(accountId: string, seq: number, body: UpdateBody): void {
    const update = { id: randomUUID(), seq, createdAt: this.clock.now(), body };
    this.server?.to(roomOf(accountId)).emit('update', update);
  }

  /** Closes the connections that an access change concerns. */
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

  @Interval(EXPIRY_CHECK_MS)
  closeExpired(): void {
    const now = this.clock.now();
    for (const socket of this.all()) {
      if (socket.data.access.expiresAt <= now) {
        this.close(socket, new AppError('token-expired'));
      }
    }
  }

  /**
   * Ends every connection because this process stops, in waves, so that clients do not reconnect all
   * at once.
   *
   * @param spreadMs the longest it may take
   */
  async drain(spreadMs: number): Promise<void> {
    this.draining = true;
    const reason = new AppError('unavailable', { retryAfterSeconds: RETRY_AFTER_DRAIN_SECONDS });
    const sockets = this.all();
    const waves = Math.ceil(Math.min(spreadMs, sockets.length * MS_PER_CONNECTION) / WAVE_MS);
    const size = Math.ceil(sockets.length / Math.max(waves, 1));
    for (let start = 0; start < sockets.length; start += size) {
      await (start > 0 && sleep(WAVE_MS));
      for (const socket of sockets.slice(start, start + size)) {
        socket.emit('closing', bodyOnConnection(reason));
        closeForRestart(socket);
      }
    }
  }
}

/** One function for all connections; Socket.IO calls it with the one that sends. */
function noteSent(
  this: UpdatesSocket,
  _event: string,
  { seq = 0 }: { readonly seq?: number },
): void {
  this.data.sentSeq = Math.max(this.data.sentSeq, seq);
}
