import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { AppError } from '../common/errors.js';
import { SETTINGS, type Settings } from '../config/settings.js';
import { judgeContentWrite, type Content } from '../policy/content.js';
import { isServiceName, MAX_CREDENTIALS } from '../policy/service-name.js';
import {
  AccountCredentialsRepository,
  type AccountCredential,
} from '../storage/account-credentials.repository.js';
import { AccountSettingsRepository } from '../storage/account-settings.repository.js';
import { Database, type Query } from '../storage/database.js';
import { nextUpdateSeq } from '../storage/update-seq.js';
import { UpdatesPublisher } from '../updates/updates.publisher.js';
import { checkSize, contentLimitOf } from './content-limit.js';

/** What an account keeps to reach services it is connected to. */
@Injectable()
export class CredentialsService {
  constructor(
    private readonly database: Database,
    private readonly owners: AccountSettingsRepository,
    private readonly credentials: AccountCredentialsRepository,
    private readonly updates: UpdatesPublisher,
    private readonly clock: Clock,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  list(accountId: string): Promise<AccountCredential[]> {
    return this.credentials.list(accountId);
  }

  /** @throws AppError `invalid-request`, `not-found` */
  async find(accountId: string, service: string): Promise<AccountCredential> {
    checkName(service);
    const credential = await this.credentials.find(accountId, service);
    if (credential === null) {
      throw new AppError('not-found');
    }
    return credential;
  }

  /**
   * @throws AppError `invalid-request` (name of the service, or too many of them),
   *   `encrypted-writes-disabled`, `plaintext-writes-disabled`, `content-mode-mismatch`,
   *   `payload-too-large`, `token-revoked`
   */
  async put(accountId: string, service: string, content: Content): Promise<void> {
    checkName(service);
    const seq = await this.database.transaction(async (query) => {
      const owner = await this.owners.lockOwner(query, accountId);
      if (owner === null) {
        throw new AppError('token-revoked');
      }
      const { storagePolicy } = this.settings.encryption;
      const decision = judgeContentWrite(storagePolicy, owner.mode, content);
      if (!decision.isAllowed) {
        throw new AppError(decision.code);
      }
      await this.checkRoom(query, accountId, service, content);
      await this.credentials.put(query, accountId, service, content, new Date(this.clock.now()));
      return nextUpdateSeq(query, accountId);
    });
    this.announce(accountId, seq);
  }

  /** Removes it, known or not. @throws AppError `invalid-request` */
  async remove(accountId: string, service: string): Promise<void> {
    checkName(service);
    this.announce(accountId, await this.credentials.remove(accountId, service));
  }

  private async checkRoom(
    query: Query,
    accountId: string,
    service: string,
    content: Content,
  ): Promise<void> {
    const limit = contentLimitOf(this.settings);
    const size = checkSize(content, limit);
    const { count, bytes } = await this.credentials.useBeside(query, accountId, service);
    if (count >= MAX_CREDENTIALS) {
      const message = `An account has credentials of at most ${MAX_CREDENTIALS} services.`;
      throw new AppError('invalid-request', { details: [{ path: 'service', message }] });
    }
    if (bytes + size > limit) {
      throw new AppError('payload-too-large');
    }
  }

  /** Clients read credentials with the settings: there is no update of their own. */
  private announce(accountId: string, seq: number | null): void {
    if (seq !== null) {
      this.updates.publish(accountId, seq, { t: 'account-settings-changed' });
    }
  }
}

function checkName(service: string): void {
  if (!isServiceName(service)) {
    const message = 'Send 1 to 64 letters, digits, dots, dashes or underscores.';
    throw new AppError('invalid-request', { details: [{ path: 'service', message }] });
  }
}
