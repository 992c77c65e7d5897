import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { AppError, invalidRequest } from '../common/errors.js';
import { isServiceName, MAX_CREDENTIALS, type Content } from '../policy/content.js';
import {
  AccountCredentialsRepository,
  type AccountCredential,
} from '../storage/repositories/account-credentials.repository.js';
import { AccountSettingsRepository } from '../storage/repositories/account-settings.repository.js';
import { Database, type Query } from '../storage/database.js';
import { nextUpdateSeq } from '../storage/account-row.js';
import { LiveConnections } from '../updates/live-connections.js';
import { ContentRules } from './content-rules.js';

/** The credentials that an account stores for the services it is connected to. */
@Injectable()
export class CredentialsService {
  constructor(
    private readonly database: Database,
    private readonly owners: AccountSettingsRepository,
    private readonly credentials: AccountCredentialsRepository,
    private readonly updates: LiveConnections,
    private readonly clock: Clock,
    private readonly rules: ContentRules,
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
      this.rules.checkKind(owner.mode, content);
      await this.checkLimits(query, accountId, service, content);
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

  private async checkLimits(
    query: Query,
    accountId: string,
    service: string,
    content: Content,
  ): Promise<void> {
    this.rules.checkSize(content);
    const { count, bytes } = await this.credentials.useBeside(query, accountId, service);
    if (count >= MAX_CREDENTIALS) {
      const message = `An account has credentials of at most ${MAX_CREDENTIALS} services.`;
      throw invalidRequest('service', message);
    }
    this.rules.checkSize(content, bytes);
  }

  /** Clients read credentials with the settings: they have no update of their own. */
  private announce(accountId: string, seq: number | null): void {
    if (seq !== null) {
      this.updates.publish(accountId, seq, { t: 'account-settings-changed' });
    }
  }
}

function checkName(service: string): void {
  if (!isServiceName(service)) {
    throw invalidRequest('service', 'Send 1 to 64 letters, digits, dots, dashes or underscores.');
  }
}
