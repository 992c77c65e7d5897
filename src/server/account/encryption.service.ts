import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/runtime/clock.js';
import { AppError } from '../../common/errors.js';
import type { AccountMode } from '../../core/policy/operator-policy.js';
import { AccountCredentialsRepository } from '../storage/repositories/account-credentials.repository.js';
import {
  AccountSettingsRepository,
  type AccountSettings,
  type ContentOwner,
} from '../storage/repositories/account-settings.repository.js';
import {
  withdrawOpenRequests,
  type ClosedRequest,
} from '../storage/repositories/approvals/request-answer.repository.js';
import { DatabaseService, type Transaction } from '../storage/database.service.js';
import { LiveConnectionsService } from '../updates/live-connections.service.js';
import type { EncryptionDto, MigratedDto, MigrateEncryptionDto } from './account.dto.js';
import { ContentRulesService } from './content-rules.service.js';

interface ModeChange {
  readonly seq: number;
  /** The requests that were withdrawn. */
  readonly requests: readonly ClosedRequest[];
}

@Injectable()
export class EncryptionService {
  constructor(
    private readonly database: DatabaseService,
    private readonly owners: AccountSettingsRepository,
    private readonly credentials: AccountCredentialsRepository,
    private readonly updates: LiveConnectionsService,
    private readonly clock: Clock,
    private readonly rules: ContentRulesService,
  ) {}

  /** @throws AppError `token-revoked` when the account is deleted */
  async read(accountId: string): Promise<EncryptionDto> {
    return toAnswer(await this.owners.owner(accountId));
  }

  /**
   * Changes the mode of an account that stores nothing.
   * @throws AppError `account-optout-disabled`, `invalid-request`, `token-revoked`,
   * `migration-required` while something is stored
   */
  async change(accountId: string, mode: AccountMode): Promise<EncryptionDto> {
    const now = this.clock.now();
    const { answer, changed } = await this.database.transaction(async (tx) => {
      const owner = await this.owners.lockOwner(tx, accountId);
      this.rules.checkSwitch(owner.keyMode, mode);
      if (owner.mode === mode) {
        return { answer: toAnswer(owner), changed: null };
      }
      const stored = await this.owners.find(accountId, tx);
      const written = await this.credentials.writtenAt(tx, accountId);
      if (stored.content !== null || written.size > 0) {
        throw new AppError('migration-required');
      }
      const changed = await this.changeMode(tx, accountId, mode, now);
      return { answer: { mode, updatedAt: now }, changed };
    });
    if (changed !== null) {
      this.announceMode(accountId, changed);
    }
    return answer;
  }

  /**
   * Moves everything that the account stores to another mode, in one transaction.
   * @throws AppError `account-optout-disabled`, `encrypted-writes-disabled`,
   * `plaintext-writes-disabled`, `content-mode-mismatch`, `migration-required` for a stored part
   * that was not sent, `payload-too-large`, `invalid-request`, `token-revoked`
   */
  async migrate(accountId: string, request: MigrateEncryptionDto): Promise<MigratedDto> {
    const now = this.clock.now();
    const outcome = await this.database.transaction(async (tx) => {
      const owner = await this.owners.lockOwner(tx, accountId);
      this.rules.checkMigration(owner.keyMode, request.toMode);
      this.checkContents(request);
      const stored = await this.owners.find(accountId, tx);
      const written = await this.credentials.writtenAt(tx, accountId);
      if (isOutdated(request, stored.version, written)) {
        return { current: stored };
      }
      checkComplete(request, stored, written);
      const changed = await this.changeMode(tx, accountId, request.toMode, now);
      for (const { service, content } of request.credentials) {
        await this.credentials.put(tx, accountId, service, content, new Date(now));
      }
      return { changed, ...(await this.owners.replace(tx, accountId, request.settings)) };
    });
    if (outcome.current !== undefined) {
      const { content: currentContent, version: currentVersion } = outcome.current;
      return { success: false, error: 'version-mismatch', currentVersion, currentContent };
    }
    const { changed, seq, version: settingsVersion } = outcome;
    this.announceMode(accountId, changed);
    this.updates.publish(accountId, seq, { t: 'account-settings-changed' });
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

  /** No client opens a request of the other mode. */
  private async changeMode(
    tx: Transaction,
    accountId: string,
    mode: AccountMode,
    now: number,
  ): Promise<ModeChange> {
    const requests = await withdrawOpenRequests(tx, accountId, new Date(now));
    return { requests, seq: await this.owners.changeMode(tx, accountId, mode, new Date(now)) };
  }

  private announceMode(accountId: string, { seq, requests }: ModeChange): void {
    for (const { id: requestId, seq: requestSeq } of requests) {
      this.updates.publish(accountId, requestSeq, { t: 'request-closed', requestId });
    }
    this.updates.publish(accountId, seq, { t: 'encryption-mode-changed' });
  }
}

function toAnswer({ mode, modeChangedAt }: ContentOwner): EncryptionDto {
  return { mode, updatedAt: modeChangedAt };
}

/** True when something was written since the client read it. */
function isOutdated(
  { expectedSettingsVersion, credentials }: MigrateEncryptionDto,
  version: number,
  written: ReadonlyMap<string, number>,
): boolean {
  return (
    version !== expectedSettingsVersion ||
    credentials.some(({ service, updatedAt }) => {
      const at = written.get(service);
      return updatedAt !== undefined && at !== undefined && at !== updatedAt;
    })
  );
}

/** The request must name every stored service and no other: nothing is lost or added. */
function checkComplete(
  { settings, credentials }: MigrateEncryptionDto,
  stored: AccountSettings,
  written: ReadonlyMap<string, number>,
): void {
  const isSame =
    written.size === credentials.length && credentials.every(({ service }) => written.has(service));
  if (!isSame || (settings === null && stored.content !== null)) {
    throw new AppError('migration-required');
  }
}
