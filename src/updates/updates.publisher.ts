import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { IdentityEvents } from '../auth/identity-events.js';
import { Clock } from '../common/clock.js';
import { LiveConnections } from './live-connections.js';
import type { UpdateBody } from './updates.events.js';

/** Sends an account's clients, on every replica, what changed. */
@Injectable()
export class UpdatesPublisher {
  constructor(
    private readonly connections: LiveConnections,
    private readonly clock: Clock,
    events: IdentityEvents,
  ) {
    events.on('identities-changed', (accountId, seq) =>
      this.publish(accountId, seq, { t: 'identities-changed' }),
    );
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
