import { Injectable } from '@nestjs/common';
import { AuditService } from '../audit/audit.service.js';
import type { Access } from '../auth/auth.service.js';
import { Clock } from '../../common/runtime/clock.js';
import {
  PushTokenRepository,
  type PushToken,
  type PushTokenFacts,
  type TokenChange,
} from '../storage/repositories/push-token.repository.js';
import { LiveConnectionsService } from '../updates/live-connections.service.js';

/** Keeps an account's push tokens. It never sends a push: the sender fetches them. */
@Injectable()
export class PushTokensService {
  constructor(
    private readonly pushTokens: PushTokenRepository,
    private readonly updates: LiveConnectionsService,
    private readonly audit: AuditService,
    private readonly clock: Clock,
  ) {}

  list(accountId: string): Promise<PushToken[]> {
    return this.pushTokens.list(accountId);
  }

  /** @throws AppError `token-revoked` when the session has ended */
  async save(caller: Access, token: string, facts: Partial<PushTokenFacts>): Promise<void> {
    const now = new Date(this.clock.now());
    this.announce(caller, await this.pushTokens.save(saverOf(caller), token, facts, now));
  }

  async remove(caller: Access, token: string): Promise<void> {
    const now = new Date(this.clock.now());
    const change = await this.pushTokens.remove(saverOf(caller), token, now);
    if (change !== null) {
      this.announce(caller, change);
    }
  }

  private announce({ accountId }: Access, { seq, events }: TokenChange): void {
    events.forEach((event) => this.audit.log(event));
    this.updates.publish(accountId, seq, { t: 'push-tokens-changed' });
  }
}

function saverOf({ accountId, sessionId }: Access) {
  return { accountId, sessionId };
}
