import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../audit/audit-log.js';
import { Clock } from '../../common/clock.js';
import { AccountRepository } from '../../storage/account.repository.js';
import { AccessChanges } from '../access-changes.js';
import type { Access } from '../auth.service.js';

/** Revocation by the account itself: stored first, then announced to every replica. */
@Injectable()
export class LogoutService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly changes: AccessChanges,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
  ) {}

  async logOut({ accountId, tokenId, expiresAt }: Access): Promise<{ success: true }> {
    const now = new Date(this.clock.now());
    await this.accounts.revokeToken(accountId, tokenId, new Date(expiresAt), now);
    this.changes.announce({ accountId, tokenId, closes: 'token-revoked' });
    this.audit.tell({ kind: 'token-revoked', actor: 'user', accountId });
    return { success: true };
  }

  async logOutEverywhere({ accountId }: Access): Promise<{ success: true }> {
    await this.accounts.revokeAllTokens(accountId, new Date(this.clock.now()));
    this.changes.announce({ accountId, closes: 'token-revoked' });
    this.audit.tell({ kind: 'all-tokens-revoked', actor: 'user', accountId });
    return { success: true };
  }
}
