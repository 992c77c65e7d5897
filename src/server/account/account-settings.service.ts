import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/errors.js';
import type { Content } from '../../core/protocol/content.js';
import {
  AccountSettingsRepository,
  type AccountSettings,
  type ContentOwner,
} from '../storage/repositories/account-settings.repository.js';
import { LiveConnectionsService } from '../updates/live-connections.service.js';
import type { WrittenDto } from './account.dto.js';
import { ContentRulesService } from './content-rules.service.js';

/** The result of a write; `current` is the stored document after a version mismatch. */
type SettingsOutcome = WrittenDto & { readonly current?: AccountSettings };

/** The settings document of an account, with versions (contract, Account, settings, credentials). */
@Injectable()
export class AccountSettingsService {
  constructor(
    private readonly repository: AccountSettingsRepository,
    private readonly updates: LiveConnectionsService,
    private readonly rules: ContentRulesService,
  ) {}

  /** @throws AppError `token-revoked` when the account is deleted */
  read(accountId: string): Promise<AccountSettings> {
    return this.repository.find(accountId);
  }

  /** @throws AppError `plain-account-requires-settings-v2` and the errors of {@link read} */
  async readEncrypted(accountId: string): Promise<AccountSettings> {
    const settings = await this.read(accountId);
    refusePlain(settings);
    return settings;
  }

  /** @throws AppError `plain-account-requires-settings-v2` and the errors of {@link write} */
  async writeEncrypted(
    accountId: string,
    text: string | null,
    expectedVersion: number,
  ): Promise<SettingsOutcome> {
    const owner = await this.repository.owner(accountId);
    refusePlain(owner);
    const content = text === null ? null : ({ t: 'encrypted', c: text } as const);
    return this.writeFor(owner, accountId, content, expectedVersion);
  }

  /**
   * Writes if the version is the expected one. null empties the document.
   * @throws AppError `encrypted-writes-disabled`, `plaintext-writes-disabled`,
   * `content-mode-mismatch`, `payload-too-large`, `token-revoked`
   */
  async write(
    accountId: string,
    content: Content | null,
    expectedVersion: number,
  ): Promise<SettingsOutcome> {
    const owner = await this.repository.owner(accountId);
    return this.writeFor(owner, accountId, content, expectedVersion);
  }

  private async writeFor(
    owner: ContentOwner,
    accountId: string,
    content: Content | null,
    expectedVersion: number,
  ): Promise<SettingsOutcome> {
    this.check(owner, content);
    const written = await this.repository.write(accountId, content, expectedVersion);
    if (written === null) {
      const current = await this.read(accountId);
      // The mode may have changed since the owner was read.
      this.check(current, content);
      const { version: currentVersion } = current;
      return { success: false, error: 'version-mismatch', currentVersion, current };
    }
    this.updates.publish(accountId, written.seq, { t: 'account-settings-changed' });
    return { success: true, version: written.version };
  }

  private check({ mode }: Pick<ContentOwner, 'mode'>, content: Content | null): void {
    if (content !== null) {
      this.rules.checkKind(mode, content);
      this.rules.checkSize(content);
    }
  }
}

function refusePlain({ mode }: Pick<ContentOwner, 'mode'>): void {
  if (mode === 'plain') {
    throw new AppError('plain-account-requires-settings-v2');
  }
}
