import { Inject, Injectable, Logger } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { AuditLog } from '../audit/audit-log.js';
import { IdentityEvents } from '../auth/identity-events.js';
import { AppError } from '../common/errors.js';
import { authConfig } from '../config/auth.config.js';
import type { IdentityChange } from '../storage/repositories/identity.repository.js';

/** Announces stored changes of identities: to the account's clients, to every replica, to the audit log. */
@Injectable()
export class IdentityChanges {
  private readonly logger = new Logger(IdentityChanges.name);

  constructor(
    private readonly events: IdentityEvents,
    private readonly audit: AuditLog,
    @Inject(authConfig.KEY) private readonly config: ConfigType<typeof authConfig>,
  ) {}

  /** A newer answer of the provider counts at once, even where nothing looks different. */
  announceLink(accountId: string, change: IdentityChange | null): void {
    if (change === null) {
      this.events.announceAccessChange({ accountId });
    } else {
      this.announce(change);
    }
  }

  /**
   * @param change its `seq` is null when the account no longer exists
   * @param closes why live connections end, where the provider is required; where it is not, they are
   *   judged, as the account may have lost its last login method. Absent = they stay
   * @returns whether live connections end in any case
   */
  announce(
    { accountId, seq, event }: Omit<IdentityChange, 'seq'> & { readonly seq: number | null },
    closes?: 'provider-required' | 'not-eligible',
    provider = '',
  ): boolean {
    // Before the connections end, so that their clients find the reason in the profile.
    if (seq !== null) {
      this.events.emit('identities-changed', accountId, seq);
    }
    const isRequired = this.config.requiredLoginProviders.includes(provider);
    const hasClosed = isRequired && closes !== undefined;
    const judgesConnections = !isRequired && closes !== undefined;
    this.events.announceAccessChange({
      accountId,
      ...(hasClosed && { closes, provider }),
      ...(judgesConnections && { judgesConnections }),
    });
    if (event !== null) {
      this.audit.log(event);
    }
    return hasClosed;
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
}
