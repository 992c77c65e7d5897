import { Injectable } from '@nestjs/common';
import { AuditLog } from '../audit/audit-log.js';
import { IdentityEvents } from '../auth/identity-events.js';
import { Clock } from '../common/clock.js';
import { AccountRepository } from '../storage/repositories/account.repository.js';

/** Deletes an account for its owner: stored first, then announced to every replica. */
@Injectable()
export class AccountService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly events: IdentityEvents,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
  ) {}

  async remove(accountId: string): Promise<void> {
    const event = { kind: 'account-deleted', actor: 'user', accountId } as const;
    const isRemoved = await this.accounts.remove(accountId, event, new Date(this.clock.now()));
    this.events.announceAccessChange({ accountId, closes: 'token-revoked' });
    if (isRemoved) {
      this.audit.log(event);
    }
  }
}
