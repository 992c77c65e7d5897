import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AccountUpdates } from '../auth/account-updates.js';
import { Clock } from '../common/clock.js';
import { LiveConnections } from './live-connections.js';
import type { UpdateBody } from './updates.events.js';

/** Tells an account's clients, on every replica, what changed. */
@Injectable()
export class UpdatesPublisher {
  constructor(
    private readonly connections: LiveConnections,
    private readonly clock: Clock,
    accountUpdates: AccountUpdates,
  ) {
    accountUpdates.onAnnounce((accountId, seq, body) => this.publish(accountId, seq, body));
  }

  /** @param seq taken in the transaction that made the change */
  publish(accountId: string, seq: number, body: UpdateBody): void {
    this.connections.broadcast(accountId, {
      id: randomUUID(),
      seq,
      createdAt: this.clock.now(),
      body,
    });
  }
}
