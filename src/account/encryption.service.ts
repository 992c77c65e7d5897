import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Clock } from '../common/clock.js';
import { AppError, invalidRequest } from '../common/errors.js';
import { encryptionConfig } from '../config/encryption.config.js';
import {
  judgeMigration,
  judgeModeSwitch,
  type ModeDecision,
} from '../policy/admission/encryption.js';
import type { AccountMode } from '../policy/operator-policy.js';
import { AccountCredentialsRepository } from '../storage/repositories/account-credentials.repository.js';
import {
  AccountSettingsRepository,
  type AccountSettings,
  type ContentOwner,
} from '../storage/repositories/account-settings.repository.js';
import { Database, type Query } from '../storage/database.js';
import { LiveConnections } from '../updates/live-connections.js';
import type { EncryptionDto, MigratedDto, MigrateEncryptionDto } from './account.dto.js';
import { ContentRules } from './content-rules.js';

/** How an account's content is encrypted, and changing that. */
@Injectable()
export class EncryptionService {
  constructor(
    private readonly database: Database,
    private readonly owners: AccountSettingsRepository,
    private readonly credentials: AccountCredentialsRepository,
    private readonly updates: LiveConnections,
    private readonly clock: Clock,
    private readonly rules: ContentRules,
    @Inject(encryptionConfig.KEY) private readonly config: ConfigType<typeof encryptionConfig>,
  ) {}

  /** @throws AppError `token-revoked` when the account is gone */
  async read(accountId: string): Promise<EncryptionDto> {
    return toAnswer(await this.owners.owner(accountId));
  }

  /**
   * Changes the mode of an account that stores nothing.
   *
   * @throws AppError `account-optout-disabled`, `migration-required` while something is stored that
   *   would be unreadable in the other mode, `invalid-request`, `token-revoked`
   */
  async change(accountId: string, mode: AccountMode): Promise<EncryptionDto> {
    const now = this.clock.now();
    const { answer, seq } = await this.database.transaction(async (query) => {
      const owner = await this.owners.lockOwner(query, accountId);
      refuseUnless(judgeModeSwitch(this.config, owner.keyMode, mode));
      if (owner.mode === mode) {
        return { answer: toAnswer(owner), seq: null };
      }
      const stored = await this.owners.find(accountId, query);
      const services = await this.credentials.services(query, accountId);
      if (stored.content !== null || services.length > 0) {
        throw new AppError('migration-required');
      }
      const taken = await this.owners.changeMode(query, accountId, mode, new Date(now));
      return { answer: { mode, updatedAt: now }, seq: taken };
    });
    if (seq !== null) {
      this.updates.publish(accountId, seq, { t: 'encryption-mode-changed' });
    }
    return answer;
  }

  /**
   * Moves everything that the account stores to another mode, in one transaction.
   *
   * @throws AppError `account-optout-disabled`, `encrypted-writes-disabled`,
   *   `plaintext-writes-disabled`, `content-mode-mismatch`, `migration-required` when something
   *   stored is not among what was sent, `payload-too-large`, `invalid-request`, `token-revoked`
   */
  async migrate(accountId: string, request: MigrateEncryptionDto): Promise<MigratedDto> {
    const now = this.clock.now();
    const outcome = await this.database.transaction(async (query) => {
      const owner = await this.owners.lockOwner(query, accountId);
      refuseUnless(judgeMigration(this.config, owner.keyMode, request.toMode));
      this.checkContents(request);
      const stored = await this.owners.find(accountId, query);
      if (stored.version !== request.expectedSettingsVersion) {
        return { current: stored };
      }
      await this.checkComplete(query, accountId, stored, request);
      return this.replaceAll(query, accountId, request, new Date(now));
    });
    if ('current' in outcome) {
      const { content: currentContent, version: currentVersion } = outcome.current;
      return { success: false, error: 'version-mismatch', currentVersion, currentContent };
    }
    const { modeSeq, settingsSeq, settingsVersion } = outcome;
    this.updates.publish(accountId, modeSeq, { t: 'encryption-mode-changed' });
    this.updates.publish(accountId, settingsSeq, { t: 'account-settings-changed' });
    return { success: true, mode: request.toMode, settingsVersion, updatedAt: now };
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
  ) {
    const modeSeq = await this.owners.changeMode(query, accountId, toMode, now);
    for (const { service, content } of credentials) {
      await this.credentials.put(query, accountId, service, content, now);
    }
    const { version, seq } = await this.owners.replace(query, accountId, settings);
    return { modeSeq, settingsSeq: seq, settingsVersion: version };
  }
}

/** @throws AppError the refusal, if it is one */
function refuseUnless(decision: ModeDecision): void {
  if (!decision.isAllowed) {
    throw decision.code === 'keyless-stays-plain'
      ? invalidRequest('mode', 'An account without a device key cannot be end-to-end encrypted.')
      : new AppError(decision.code);
  }
}

function toAnswer({ mode, modeChangedAt }: ContentOwner): EncryptionDto {
  return { mode, updatedAt: modeChangedAt };
}
