import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { SETTINGS, type Settings } from '../../config/settings.js';
import { AccountRepository } from '../../storage/account.repository.js';
import { StorageLifecycle } from '../../storage/storage-lifecycle.js';

const ASK_EVERY_MS = 5000;

/**
 * Tells once that device-key accounts exist. Only a `plaintext_only` server asks: elsewhere
 * device-key login is advertised in any case (contract, Discovery).
 */
@Injectable()
export class KeyedAccounts {
  private isKnown: boolean;
  private readonly listeners: (() => void)[] = [];

  constructor(
    private readonly accounts: AccountRepository,
    storage: StorageLifecycle,
    @Inject(SETTINGS) { encryption }: Settings,
  ) {
    this.isKnown = encryption.storagePolicy !== 'plaintext_only';
    storage.beforeReady(() => this.ask());
  }

  onExist(listener: () => void): void {
    this.listeners.push(listener);
  }

  @Interval(ASK_EVERY_MS)
  async ask(): Promise<void> {
    // While storage is away nothing is known, and the next tick asks again.
    if (this.isKnown || !(await this.accounts.hasKeyed().catch(() => false))) {
      return;
    }
    this.isKnown = true;
    for (const listen of this.listeners) {
      listen();
    }
  }
}
