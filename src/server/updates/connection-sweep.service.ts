import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { AuthService, type TokenStatus } from '../auth/auth.service.js';
import { IdentityEvents } from '../auth/identity.events.js';
import { Clock } from '../../common/runtime/clock.js';
import { millisecondsSince } from '../../common/runtime/moment.js';
import { AppError, isUnavailable } from '../../common/errors.js';
import { authConfig, type AuthSettings } from '../config/auth.config.js';
import { CONNECTION_CHECK_MS } from '../../core/policy/admission/revocation.js';
import { LiveConnectionsService } from './live-connections.service.js';
import type { UpdatesSocket } from './updates.events.js';

/** Tokens that one statement checks. */
const BATCH = 500;

/**
 * Checks live connections against the database within the lifetime of the access cache: revoked
 * access ends them as fast as requests, even if a message between replicas is lost.
 */
@Injectable()
export class ConnectionSweepService implements OnModuleInit {
  private readonly logger = new Logger(ConnectionSweepService.name);
  private readonly maxAgeMs: number;
  /** Accounts whose connections are checked now, regardless of the last check. */
  private readonly changed = new Set<string>();
  private running: Promise<void> | null = null;

  constructor(
    private readonly connections: LiveConnectionsService,
    private readonly auth: AuthService,
    private readonly events: IdentityEvents,
    private readonly clock: Clock,
    @Inject(authConfig.KEY) config: AuthSettings,
  ) {
    // The age increases by one tick until the next check.
    this.maxAgeMs = config.accessCacheMs - CONNECTION_CHECK_MS;
  }

  onModuleInit(): void {
    this.events.on('access-changed', ({ accountId, judgesConnections = false }) => {
      if (judgesConnections && this.connections.countOf(accountId) > 0) {
        this.changed.add(accountId);
        this.sweepNow();
      }
    });
    this.events.on('access-changes-missed', () => {
      for (const { data } of this.connections.all()) {
        this.changed.add(data.access.accountId);
      }
      this.sweepNow();
    });
  }

  /** Runs one pass at a time. While storage is unavailable, connections stay and receive nothing. */
  @Interval(CONNECTION_CHECK_MS)
  async sweep(): Promise<void> {
    this.running ??= this.judgeAll()
      .catch((error: unknown) => {
        if (!isUnavailable(error)) {
          throw error;
        }
      })
      .finally(() => (this.running = null));
    await this.running;
  }

  private sweepNow(): void {
    this.sweep().catch((error: unknown) => this.logger.error(error));
  }

  /** Accounts that changed while facts were read are judged again. */
  private async judgeAll(): Promise<void> {
    do {
      await this.judgeDue();
    } while (this.changed.size > 0);
  }

  private async judgeDue(): Promise<void> {
    for (const accountId of this.changed) {
      // They stay due if storage fails.
      this.connections.of(accountId).forEach(({ data }) => (data.isDue = true));
    }
    this.changed.clear();
    const byToken = this.due();
    const tokens = [...byToken.keys()];
    for (let start = 0; start < tokens.length; start += BATCH) {
      const batch = tokens.slice(start, start + BATCH).flatMap((token) => {
        const sockets = byToken.get(token) ?? [];
        return sockets[0] === undefined ? [] : [{ sockets, access: sockets[0].data.access }];
      });
      const statuses = await this.auth.judgeAgain(batch.map(({ access }) => access));
      for (const [index, status] of statuses.entries()) {
        batch[index]?.sockets.forEach((socket) => this.settle(socket, status));
      }
    }
  }

  /** Returns connections whose check is too old, or whose required providers lapsed. */
  private due(): Map<string, UpdatesSocket[]> {
    const now = this.clock.now();
    const byToken = new Map<string, UpdatesSocket[]>();
    for (const socket of this.connections.all()) {
      const { access, isDue } = socket.data;
      const isOld = millisecondsSince(access.readAt, this.clock) >= this.maxAgeMs;
      if (isDue || isOld || access.holdsUntil <= now) {
        byToken.set(access.sessionId, [...(byToken.get(access.sessionId) ?? []), socket]);
      }
    }
    return byToken;
  }

  private settle(socket: UpdatesSocket, { verdict, updateSeq }: TokenStatus): void {
    const refusal = verdict instanceof AppError ? verdict : verdict.providerRefusal;
    if (refusal !== null) {
      // The access cache does not contain the change either.
      this.events.emit('access-changed', { accountId: socket.data.access.accountId });
      this.connections.close(socket, refusal);
    } else if (!(verdict instanceof AppError)) {
      socket.data.access = verdict;
      socket.data.isDue = false;
      this.connections.catchUp(socket, updateSeq ?? 0);
    }
  }
}
