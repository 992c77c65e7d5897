import { Injectable } from '@nestjs/common';
import { AuditLog } from '../audit/audit-log.js';
import { AppError } from '../common/errors.js';
import type { AccountForLogin } from '../storage/account.repository.js';
import { AccessTokens } from './access-token.js';

export interface Login {
  readonly success: true;
  readonly token: string;
  readonly accountId: string;
  readonly created: boolean;
}

/** The common tail of every login, whatever proved who is there. */
@Injectable()
export class AccountAccess {
  constructor(
    private readonly tokens: AccessTokens,
    private readonly audit: AuditLog,
  ) {}

  /** @throws AppError `account-disabled` */
  logIn(account: AccountForLogin, created: boolean): Login {
    if (account.isDisabled) {
      throw new AppError('account-disabled');
    }
    if (created) {
      this.audit.tell({ kind: 'signed-up', actor: 'user', accountId: account.id });
    }
    const token = this.tokens.issue(account.id, account.tokenEpoch);
    return { success: true, token, accountId: account.id, created };
  }
}
