import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { AppError } from '../common/errors.js';
import { SETTINGS, type Settings } from '../config/settings.js';
import { judgeContentWrite } from '../policy/content.js';
import { judgeMigration } from '../policy/encryption.js';
import { AccountCredentialsRepository } from '../storage/account-credentials.repository.js';
import {
  AccountSettingsRepository,
  type AccountSettings,
} from '../storage/account-settings.repository.js';
import { Database, type Query } from '../storage/database.js';
import { UpdatesPublisher } from '../updates/updates.publisher.js';
import { checkSize, contentLimitOf } from './content-limit.js';
import type { MigrateEncryptionDto } from './encryption.dto.js';
import { ownerIn, refuseUnless } from './encryption.service.js';

export type MigrationOutcome =
  | { readonly isDone: true; readonly settingsVersion: number; readonly updatedAt: number }
  | { readonly isDone: false; readonly current: AccountSettings };

interface Migrated {
  readonly modeSeq: number;
  readonly settingsSeq: number;
  readonly settingsVersion: number;
}

/** Brings all that an account stores into another mode at once, or nothing of it. */
@Injectable()
export class MigrationService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountSettingsRepository,
    private readonly credentials: AccountCredentialsRepository,
    private readonly updates: UpdatesPublisher,
    private readonly clock: Clock,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * @throws AppError `account-optout-disabled`, `encrypted-writes-disabled`,
   *   `plaintext-writes-disabled`, `content-mode-mismatch`, `migration-required` when something
   *   stored is not among what was sent, `payload-too-large`, `invalid-request`, `token-revoked`
   */
  async migrate(accountId: string, request: MigrateEncryptionDto): Promise<MigrationOutcome> {
    const now = this.clock.now();
    const outcome = await this.database.transaction(async (query) => {
      const owner = ownerIn(await this.accounts.lockOwner(query, accountId));
      refuseUnless(judgeMigration(this.settings.encryption, owner.keyMode, request.toMode));
      this.checkContents(request);
      const stored = await this.accounts.find(accountId, query);
      if (stored !== null && stored.version !== request.expectedSettingsVersion) {
        return { current: stored };
      }
      await this.checkComplete(query, accountId, stored, request);
      return this.replaceAll(query, accountId, request, new Date(now));
    });
    if ('current' in outcome) {
      return { isDone: false, current: outcome.current };
    }
    const { modeSeq, settingsSeq, settingsVersion } = outcome;
    this.updates.publish(accountId, modeSeq, { t: 'encryption-mode-changed' });
    this.updates.publish(accountId, settingsSeq, { t: 'account-settings-changed' });
    return { isDone: true, settingsVersion, updatedAt: now };
  }

  private checkContents({ toMode, settings, credentials }: MigrateEncryptionDto): void {
    const limit = contentLimitOf(this.settings);
    const parts = credentials.map(({ content }) => content);
    for (const content of settings === null ? parts : [settings, ...parts]) {
      const { storagePolicy } = this.settings.encryption;
      const decision = judgeContentWrite(storagePolicy, toMode, content);
      if (!decision.isAllowed) {
        throw new AppError(decision.code);
      }
    }
    const size = parts.reduce((sum, content) => sum + checkSize(content, limit), 0);
    if (size > limit || (settings !== null && checkSize(settings, limit) > limit)) {
      throw new AppError('payload-too-large');
    }
  }

  /** What was sent is what is stored, service by service: nothing is stranded, nothing made up. */
  private async checkComplete(
    query: Query,
    accountId: string,
    stored: AccountSettings | null,
    { settings, credentials }: MigrateEncryptionDto,
  ): Promise<void> {
    const services = new Set(await this.credentials.services(query, accountId));
    const isSame =
      services.size === credentials.length &&
      credentials.every(({ service }) => services.has(service));
    if (!isSame || (settings === null && stored?.content !== null)) {
      throw new AppError('migration-required');
    }
  }

  private async replaceAll(
    query: Query,
    accountId: string,
    { toMode, settings, credentials }: MigrateEncryptionDto,
    now: Date,
  ): Promise<Migrated> {
    const modeSeq = await this.accounts.changeMode(query, accountId, toMode, now);
    for (const { service, content } of credentials) {
      await this.credentials.put(query, accountId, service, content, now);
    }
    const { version, seq } = await this.accounts.replace(query, accountId, settings);
    return { modeSeq, settingsSeq: seq, settingsVersion: version };
  }
}
