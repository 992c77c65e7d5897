import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { AppError } from '../common/errors.js';
import { SETTINGS, type Settings } from '../config/settings.js';
import { judgeModeSwitch, type ModeDecision } from '../policy/encryption.js';
import type { AccountMode } from '../policy/storage-policy.js';
import { AccountCredentialsRepository } from '../storage/account-credentials.repository.js';
import {
  AccountSettingsRepository,
  type ContentOwner,
} from '../storage/account-settings.repository.js';
import { Database } from '../storage/database.js';
import { UpdatesPublisher } from '../updates/updates.publisher.js';
import type { EncryptionDto } from './encryption.dto.js';

/** How an account's content is encrypted, and changing that while nothing is stored. */
@Injectable()
export class EncryptionService {
  constructor(
    private readonly database: Database,
    private readonly owners: AccountSettingsRepository,
    private readonly credentials: AccountCredentialsRepository,
    private readonly updates: UpdatesPublisher,
    private readonly clock: Clock,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** @throws AppError `token-revoked` when the account is gone */
  async read(accountId: string): Promise<EncryptionDto> {
    return toAnswer(ownerIn(await this.owners.owner(accountId)));
  }

  /**
   * @throws AppError `account-optout-disabled`, `migration-required` while something is stored that
   *   nobody could read in the other mode, `invalid-request`, `token-revoked`
   */
  async change(accountId: string, mode: AccountMode): Promise<EncryptionDto> {
    const now = this.clock.now();
    const { answer, seq } = await this.database.transaction(async (query) => {
      const owner = ownerIn(await this.owners.lockOwner(query, accountId));
      refuseUnless(judgeModeSwitch(this.settings.encryption, owner.keyMode, mode));
      if (owner.mode === mode) {
        return { answer: toAnswer(owner), seq: null };
      }
      const stored = await this.owners.find(accountId, query);
      const services = await this.credentials.services(query, accountId);
      if (stored?.content !== null || services.length > 0) {
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
}

/** @throws AppError `token-revoked` */
export function ownerIn(owner: ContentOwner | null): ContentOwner {
  if (owner === null) {
    throw new AppError('token-revoked');
  }
  return owner;
}

/** @throws AppError the refusal, if it is one */
export function refuseUnless(decision: ModeDecision): void {
  if (decision.isAllowed) {
    return;
  }
  if (decision.code === 'keyless-stays-plain') {
    const message = 'An account without a device key cannot be end-to-end encrypted.';
    throw new AppError('invalid-request', { details: [{ path: 'mode', message }] });
  }
  throw new AppError(decision.code);
}

function toAnswer({ mode, modeChangedAt }: ContentOwner): EncryptionDto {
  return { mode, updatedAt: modeChangedAt };
}
