import { Injectable } from '@nestjs/common';
import { AuditLog } from '../audit/audit-log.js';
import { AccessChanges } from '../auth/access-changes.js';
import { Clock } from '../common/clock.js';
import { AccountRemovalRepository } from '../storage/account-removal.repository.js';

/** Ends an account at its owner's wish: stored first, then announced to every replica. */
@Injectable()
export class AccountRemovalService {
  constructor(
    private readonly accounts: AccountRemovalRepository,
    private readonly changes: AccessChanges,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
  ) {}

  async remove(accountId: string): Promise<void> {
    const event = { kind: 'account-deleted', actor: 'user', accountId } as const;
    const isRemoved = await this.accounts.remove(accountId, event, new Date(this.clock.now()));
    this.changes.announce({ accountId, closes: 'token-revoked' });
    if (isRemoved) {
      this.audit.tell(event);
    }
  }
}
