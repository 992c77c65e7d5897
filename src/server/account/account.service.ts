import { Injectable } from '@nestjs/common';
import { AuditService } from '../audit/audit.service.js';
import { IdentityEvents } from '../auth/identity.events.js';
import { Clock } from '../../common/runtime/clock.js';
import type { CallingSession } from '../storage/account-row.js';
import {
  AccountRepository,
  type AccountProfile,
} from '../storage/repositories/account.repository.js';

@Injectable()
export class AccountService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly events: IdentityEvents,
    private readonly audit: AuditService,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError `token-revoked` when the account is deleted */
  profile(accountId: string): Promise<AccountProfile> {
    return this.accounts.profile(accountId);
  }

  /** Deletes the account, then announces it to every replica. */
  async remove(caller: CallingSession): Promise<void> {
    const { accountId } = caller;
    const event = { kind: 'account-deleted', actor: 'user', accountId } as const;
    const isRemoved = await this.accounts.remove(caller, event, new Date(this.clock.now()));
    this.events.announceAccessChange({ accountId, closes: 'token-revoked' });
    if (isRemoved) {
      this.audit.log(event);
    }
  }
}
