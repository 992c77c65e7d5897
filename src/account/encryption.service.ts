import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Clock } from '../common/clock.js';
import { AppError } from '../common/errors.js';
import { encryptionConfig } from '../config/encryption.config.js';
import { judgeModeSwitch, type ModeDecision } from '../policy/admission/encryption.js';
import type { AccountMode } from '../policy/operator-policy.js';
import { AccountCredentialsRepository } from '../storage/repositories/account-credentials.repository.js';
import {
  AccountSettingsRepository,
  type ContentOwner,
} from '../storage/repositories/account-settings.repository.js';
import { Database } from '../storage/database.js';
import { UpdatesPublisher } from '../updates/updates.publisher.js';
import type { EncryptionDto } from './account.dto.js';

/** How an account's content is encrypted, and changing that while nothing is stored. */
@Injectable()
export class EncryptionService {
  constructor(
    private readonly database: Database,
    private readonly owners: AccountSettingsRepository,
    private readonly credentials: AccountCredentialsRepository,
    private readonly updates: UpdatesPublisher,
    private readonly clock: Clock,
    @Inject(encryptionConfig.KEY) private readonly config: ConfigType<typeof encryptionConfig>,
  ) {}

  /** @throws AppError `token-revoked` when the account is gone */
  async read(accountId: string): Promise<EncryptionDto> {
    return toAnswer(await this.owners.owner(accountId));
  }

  /**
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
