import { setTimeout } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { AppError } from '../common/errors.js';
import { AccountRepository } from '../storage/account.repository.js';

const MAX_BATCH = 500;
/** Nobody notices a pause this short, and in a rush of connections dozens share a statement. */
const GATHER_MS = 5;

/**
 * Where each account's updates stand. Clients that connect at the same moment, as they do after a
 * restart, are answered by one statement.
 */
@Injectable()
export class UpdatePositions {
  private waiting: Set<string> = new Set();
  private batch: Promise<Map<string, number>> | null = null;

  constructor(private readonly accounts: AccountRepository) {}

  /** @throws AppError `token-revoked` when the account is gone, `unavailable` */
  async of(accountId: string): Promise<number> {
    if (this.batch === null || this.waiting.size >= MAX_BATCH) {
      this.waiting = new Set();
      this.batch = this.readSoon(this.waiting);
    }
    this.waiting.add(accountId);
    const seq = (await this.batch).get(accountId);
    if (seq === undefined) {
      throw new AppError('token-revoked');
    }
    return seq;
  }

  private async readSoon(accountIds: Set<string>): Promise<Map<string, number>> {
    await setTimeout(GATHER_MS);
    // Whoever asks from here on may have joined after the statement ran.
    if (this.waiting === accountIds) {
      this.batch = null;
    }
    return this.accounts.updateSeqs([...accountIds]);
  }
}
