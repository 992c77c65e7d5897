import { Injectable } from '@nestjs/common';
import { AppError } from '../common/errors.js';
import { AccountRepository } from '../storage/account.repository.js';

/** Where each account's updates stand. */
@Injectable()
export class UpdatePositions {
  constructor(private readonly accounts: AccountRepository) {}

  /** @throws AppError `token-revoked` when the account is gone, `unavailable` */
  async of(accountId: string): Promise<number> {
    const seq = await this.accounts.updateSeq(accountId);
    if (seq === undefined) {
      throw new AppError('token-revoked');
    }
    return seq;
  }
}
