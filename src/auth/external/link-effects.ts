import { Inject, Injectable, Logger } from '@nestjs/common';
import { AuditLog } from '../../audit/audit-log.js';
import { AppError } from '../../common/errors.js';
import { SETTINGS, type Settings } from '../../config/settings.js';
import type { IdentityChange } from '../../storage/identity.repository.js';
import { AccessChanges } from '../access-changes.js';
import { AccountUpdates } from '../account-updates.js';

/** Carries a stored link, or its end, to everybody whom it concerns, on every replica. */
@Injectable()
export class LinkEffects {
  private readonly logger = new Logger(LinkEffects.name);

  constructor(
    private readonly changes: AccessChanges,
    private readonly updates: AccountUpdates,
    private readonly audit: AuditLog,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** A newer answer of the provider counts at once, even where nothing looks different. */
  announceLink(accountId: string, change: IdentityChange | null): void {
    if (change === null) {
      this.changes.announce({ accountId });
    } else {
      this.announce(change);
    }
  }

  /**
   * Logs and counts for the audit trail that a login met an identity of another issuer.
   *
   * @param issuer of the identity that is stored
   * @returns what to answer: the configured issuer does not vouch for that identity
   */
  refuseForeign(provider: string, issuer: string | null): AppError {
    this.logger.warn({ msg: 'login met an identity of another issuer', provider, issuer });
    this.audit.refuse(provider, 'issuer_changed');
    return new AppError('not-eligible', { provider });
  }

  /** @param closes why live connections end, where the provider is required; absent = they stay */
  announce(
    { accountId, seq, event }: IdentityChange,
    closes?: 'provider-required' | 'not-eligible',
    provider?: string,
  ): void {
    // Before the connections end, so that those who are put out see why in their profile.
    this.updates.announce(accountId, seq, { t: 'identities-changed' });
    const isRequired = this.settings.auth.requiredLoginProviders.includes(provider ?? '');
    this.changes.announce({ accountId, ...(isRequired && { closes, provider }) });
    if (event !== null) {
      this.audit.tell(event);
    }
  }
}
