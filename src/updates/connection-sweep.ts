import { Inject, Injectable, Logger } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Interval } from '@nestjs/schedule';
import { AuthService, type TokenStatus } from '../auth/auth.service.js';
import { IdentityEvents } from '../auth/identity-events.js';
import { Clock } from '../common/clock.js';
import { AppError, isUnavailable } from '../common/errors.js';
import { authConfig } from '../config/auth.config.js';
import { LiveConnections } from './live-connections.js';
import type { UpdatesSocket } from './updates.events.js';

const TICK_MS = 1000;
/** Tokens judged by one statement. */
const BATCH = 500;

/**
 * Judges live connections against the database, each within the lifetime of the access cache:
 * withdrawn access takes effect on them as late as on requests, and no later, when the message
 * about it is lost between replicas. An update whose message was lost shows the same way.
 */
@Injectable()
export class ConnectionSweep {
  private readonly logger = new Logger(ConnectionSweep.name);
  private readonly maxAgeMs: number;
  /** Accounts whose connections are judged now, whenever that was done last. */
  private readonly changed = new Set<string>();
  private running: Promise<void> | null = null;

  constructor(
    private readonly connections: LiveConnections,
    private readonly auth: AuthService,
    private readonly events: IdentityEvents,
    private readonly clock: Clock,
    @Inject(authConfig.KEY) config: ConfigType<typeof authConfig>,
  ) {
    // Between two ticks it grows older by one more.
    this.maxAgeMs = config.accessCacheMs - TICK_MS;
    events.on('access-changed', ({ accountId, judgesConnections = false }) => {
      if (judgesConnections && connections.countOf(accountId) > 0) {
        this.changed.add(accountId);
        this.sweepNow();
      }
    });
    events.on('access-changes-missed', () => {
      for (const { data } of connections.all()) {
        this.changed.add(data.access.accountId);
      }
      this.sweepNow();
    });
  }

  /** One pass at a time. While storage cannot answer, connections stay until it can. */
  @Interval(TICK_MS)
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

  /** What changed while facts were read is judged once more. */
  private async judgeAll(): Promise<void> {
    do {
      await this.judgeDue();
    } while (this.changed.size > 0);
  }

  private async judgeDue(): Promise<void> {
    for (const accountId of this.changed) {
      // Should storage fail now, they stay due.
      this.connections.of(accountId).forEach(({ data }) => (data.judgedAt = 0));
    }
    this.changed.clear();
    const byToken = this.due();
    const tokens = [...byToken.keys()];
    for (let start = 0; start < tokens.length; start += BATCH) {
      const asked = tokens.slice(start, start + BATCH).flatMap((token) => {
        const sockets = byToken.get(token) ?? [];
        return sockets[0] === undefined ? [] : [{ sockets, access: sockets[0].data.access }];
      });
      const askedAt = this.clock.now();
      const statuses = await this.auth.judgeAgain(asked.map(({ access }) => access));
      for (const [index, status] of statuses.entries()) {
        asked[index]?.sockets.forEach((socket) => this.settle(socket, status, askedAt));
      }
    }
  }

  /** Connections that were not judged for too long, or whose required providers lapsed. */
  private due(): Map<string, UpdatesSocket[]> {
    const now = this.clock.now();
    const byToken = new Map<string, UpdatesSocket[]>();
    for (const socket of this.connections.all()) {
      const { access, judgedAt } = socket.data;
      if (now - judgedAt >= this.maxAgeMs || access.holdsUntil <= now) {
        const others = byToken.get(access.sessionId);
        if (others === undefined) {
          byToken.set(access.sessionId, [socket]);
        } else {
          others.push(socket);
        }
      }
    }
    return byToken;
  }

  private settle(
    socket: UpdatesSocket,
    { verdict, updateSeq }: TokenStatus,
    askedAt: number,
  ): void {
    const refusal = verdict instanceof AppError ? verdict : verdict.providerRefusal;
    if (refusal !== null) {
      // The access cache does not know it either.
      this.events.emit('access-changed', { accountId: socket.data.access.accountId });
      this.connections.close(socket, refusal);
    } else if (!(verdict instanceof AppError)) {
      socket.data.access = verdict;
      socket.data.judgedAt = askedAt;
      this.connections.catchUp(socket, updateSeq ?? 0);
    }
  }
}
