import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import {
  PushTokenRepository,
  type PushToken,
  type PushTokenFacts,
} from '../storage/repositories/push-token.repository.js';
import { LiveConnections } from '../updates/live-connections.js';

/** Keeps an account's push tokens. It never sends a push: the sender fetches them. */
@Injectable()
export class PushTokensService {
  constructor(
    private readonly pushTokens: PushTokenRepository,
    private readonly updates: LiveConnections,
    private readonly clock: Clock,
  ) {}

  list(accountId: string): Promise<PushToken[]> {
    return this.pushTokens.list(accountId);
  }

  async save(accountId: string, token: string, facts: Partial<PushTokenFacts>): Promise<void> {
    const now = new Date(this.clock.now());
    const seq = await this.pushTokens.save(accountId, token, facts, now);
    this.updates.publish(accountId, seq, { t: 'push-tokens-changed' });
  }

  async remove(accountId: string, token: string): Promise<void> {
    const seq = await this.pushTokens.remove(accountId, token);
    if (seq !== null) {
      this.updates.publish(accountId, seq, { t: 'push-tokens-changed' });
    }
  }
}
