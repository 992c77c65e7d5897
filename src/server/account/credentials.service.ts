import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/runtime/clock.js';
import { invalidRequest, orRefuse } from '../../common/errors.js';
import { isServiceName, MAX_CREDENTIALS, type Content } from '../../core/protocol/content.js';
import {
  AccountCredentialsRepository,
  type AccountCredential,
} from '../storage/repositories/account-credentials.repository.js';
import { AccountSettingsRepository } from '../storage/repositories/account-settings.repository.js';
import { DatabaseService } from '../storage/database.service.js';
import { nextUpdateSeq } from '../storage/account-row.js';
import { LiveConnectionsService } from '../updates/live-connections.service.js';
import { ContentRulesService } from './content-rules.service.js';

@Injectable()
export class CredentialsService {
  constructor(
    private readonly database: DatabaseService,
    private readonly owners: AccountSettingsRepository,
    private readonly credentials: AccountCredentialsRepository,
    private readonly updates: LiveConnectionsService,
    private readonly clock: Clock,
    private readonly rules: ContentRulesService,
  ) {}

  list(accountId: string): Promise<AccountCredential[]> {
    return this.credentials.list(accountId);
  }

  /** @throws AppError `invalid-request`, `not-found` */
  async find(accountId: string, service: string): Promise<AccountCredential> {
    checkName(service);
    return orRefuse(await this.credentials.find(accountId, service), 'not-found');
  }

  /**
   * @throws AppError `invalid-request` (a name, or too many), `payload-too-large`, `token-revoked`,
   * and as {@link ContentRulesService.checkKind}
   */
  async put(accountId: string, service: string, content: Content): Promise<void> {
    checkName(service);
    const seq = await this.database.transaction(async (tx) => {
      const owner = await this.owners.lockOwner(tx, accountId);
      this.rules.checkKind(owner.mode, content);
      this.rules.checkSize(content);
      const { count, bytes } = await this.credentials.useBeside(tx, accountId, service);
      if (count >= MAX_CREDENTIALS) {
        const message = `An account has credentials of at most ${MAX_CREDENTIALS} services.`;
        throw invalidRequest('service', message);
      }
      this.rules.checkSize(content, bytes);
      await this.credentials.put(tx, accountId, service, content, new Date(this.clock.now()));
      return nextUpdateSeq(tx, accountId);
    });
    this.announce(accountId, seq);
  }

  /** Removes the credential, if it exists. @throws AppError `invalid-request` */
  async remove(accountId: string, service: string): Promise<void> {
    checkName(service);
    this.announce(accountId, await this.credentials.remove(accountId, service));
  }

  /** Announced as a change of the settings, because clients read both together. */
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
