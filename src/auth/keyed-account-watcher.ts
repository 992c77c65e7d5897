import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Interval } from '@nestjs/schedule';
import { encryptionConfig } from '../config/encryption.config.js';
import { AccountRepository } from '../storage/repositories/account.repository.js';
import { StorageLifecycle } from '../storage/storage-lifecycle.js';
import { IdentityEvents } from './identity-events.js';

const QUERY_EVERY_MS = 5000;

/**
 * Emits `keyed-account-found` once. Only a `plaintext_only` server queries for it: elsewhere
 * device-key login is advertised in any case (contract, Discovery).
 */
@Injectable()
export class KeyedAccountWatcher {
  private isKnown: boolean;

  constructor(
    private readonly accounts: AccountRepository,
    private readonly events: IdentityEvents,
    storage: StorageLifecycle,
    @Inject(encryptionConfig.KEY) encryption: ConfigType<typeof encryptionConfig>,
  ) {
    this.isKnown = encryption.storagePolicy !== 'plaintext_only';
    storage.beforeReady(() => this.check());
  }

  @Interval(QUERY_EVERY_MS)
  async check(): Promise<void> {
    // While storage is unavailable nothing is known, and the next tick queries again.
    if (!this.isKnown && (await this.accounts.hasKeyed().catch(() => false))) {
      this.isKnown = true;
      this.events.emit('keyed-account-found');
    }
  }
}
