import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Clock } from '../common/clock.js';
import { AppError } from '../common/errors.js';
import { encryptionConfig } from '../config/encryption.config.js';
import { judgeMigration } from '../policy/admission/encryption.js';
import { AccountCredentialsRepository } from '../storage/repositories/account-credentials.repository.js';
import {
  AccountSettingsRepository,
  type AccountSettings,
} from '../storage/repositories/account-settings.repository.js';
import { Database, type Query } from '../storage/database.js';
import { UpdatesPublisher } from '../updates/updates.publisher.js';
import type { MigrateEncryptionDto } from './account.dto.js';
import { ContentRules } from './content-rules.js';
import { refuseUnless } from './encryption.service.js';

export type MigrationOutcome =
  | { readonly isDone: true; readonly settingsVersion: number; readonly updatedAt: number }
  | { readonly isDone: false; readonly current: AccountSettings };

interface Migrated {
  readonly modeSeq: number;
  readonly settingsSeq: number;
  readonly settingsVersion: number;
}

/** Moves everything that an account stores to another mode in one transaction. */
@Injectable()
export class MigrationService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountSettingsRepository,
    private readonly credentials: AccountCredentialsRepository,
    private readonly updates: UpdatesPublisher,
    private readonly clock: Clock,
    @Inject(encryptionConfig.KEY) private readonly encryption: ConfigType<typeof encryptionConfig>,
    private readonly rules: ContentRules,
  ) {}

  /**
   * @throws AppError `account-optout-disabled`, `encrypted-writes-disabled`,
   *   `plaintext-writes-disabled`, `content-mode-mismatch`, `migration-required` when something
   *   stored is not among what was sent, `payload-too-large`, `invalid-request`, `token-revoked`
   */
  async migrate(accountId: string, request: MigrateEncryptionDto): Promise<MigrationOutcome> {
    const now = this.clock.now();
    const outcome = await this.database.transaction(async (query) => {
      const owner = await this.accounts.lockOwner(query, accountId);
      refuseUnless(judgeMigration(this.encryption, owner.keyMode, request.toMode));
      this.checkContents(request);
      const stored = await this.accounts.find(accountId, query);
      if (stored.version !== request.expectedSettingsVersion) {
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
    const parts = credentials.map(({ content }) => content);
    const all = settings === null ? parts : [settings, ...parts];
    all.forEach((content) => this.rules.checkKind(toMode, content));
    parts.reduce((sum, content) => sum + this.rules.checkSize(content, sum), 0);
    if (settings !== null) {
      this.rules.checkSize(settings);
    }
  }

  /** The request must name every stored service and no other: nothing is lost or added. */
  private async checkComplete(
    query: Query,
    accountId: string,
    stored: AccountSettings,
    { settings, credentials }: MigrateEncryptionDto,
  ): Promise<void> {
    const services = new Set(await this.credentials.services(query, accountId));
    const isSame =
      services.size === credentials.length &&
      credentials.every(({ service }) => services.has(service));
    if (!isSame || (settings === null && stored.content !== null)) {
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
