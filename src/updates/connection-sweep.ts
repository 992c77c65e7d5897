import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { AccessChanges } from '../auth/access-changes.js';
import { AuthService, type Standing } from '../auth/auth.service.js';
import { Clock } from '../common/clock.js';
import { AppError } from '../common/errors.js';
import { SETTINGS, type Settings } from '../config/settings.js';
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
  private readonly maxAgeMs: number;
  private running: Promise<void> | null = null;

  constructor(
    private readonly connections: LiveConnections,
    private readonly auth: AuthService,
    private readonly changes: AccessChanges,
    private readonly clock: Clock,
    @Inject(SETTINGS) settings: Settings,
  ) {
    // Between two ticks it grows older by one more.
    this.maxAgeMs = settings.auth.accessCacheMs - TICK_MS;
  }

  /** One pass at a time. While storage cannot answer, connections stay until it can. */
  @Interval(TICK_MS)
  async sweep(): Promise<void> {
    this.running ??= this.judgeDue()
      .catch((error: unknown) => {
        if (!(error instanceof AppError && error.code === 'unavailable')) {
          throw error;
        }
      })
      .finally(() => {
        this.running = null;
      });
    await this.running;
  }

  private async judgeDue(): Promise<void> {
    const byToken = this.due();
    const tokens = [...byToken.keys()];
    for (let start = 0; start < tokens.length; start += BATCH) {
      const asked = tokens.slice(start, start + BATCH).flatMap((token) => {
        const sockets = byToken.get(token) ?? [];
        return sockets[0] === undefined ? [] : [{ sockets, access: sockets[0].data.access }];
      });
      const askedAt = this.clock.now();
      const standings = await this.auth.judgeAgain(asked.map(({ access }) => access));
      for (const [index, standing] of standings.entries()) {
        asked[index]?.sockets.forEach((socket) => this.settle(socket, standing, askedAt));
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
        const same = byToken.get(access.sessionId);
        if (same === undefined) {
          byToken.set(access.sessionId, [socket]);
        } else {
          same.push(socket);
        }
      }
    }
    return byToken;
  }

  private settle(socket: UpdatesSocket, { verdict, updateSeq }: Standing, askedAt: number): void {
    if (verdict instanceof AppError) {
      this.refuse(socket, verdict);
    } else if (verdict.providerRefusal !== null) {
      this.refuse(socket, verdict.providerRefusal);
    } else {
      socket.data.access = verdict;
      socket.data.judgedAt = askedAt;
      this.connections.catchUp(socket, updateSeq ?? 0);
    }
  }

  private refuse(socket: UpdatesSocket, refusal: AppError): void {
    // Requests of the account have not heard of it either.
    this.changes.receive({ accountId: socket.data.access.accountId });
    this.connections.close(socket, refusal);
  }
}
