import { Inject, Injectable } from '@nestjs/common';
import { AuditLog } from '../../audit/audit-log.js';
import { SETTINGS, type Settings } from '../../config/settings.js';
import type { IdentityChange } from '../../storage/identity.repository.js';
import { AccessChanges } from '../access-changes.js';
import { AccountUpdates } from '../account-updates.js';

/** Carries a stored link, or its end, to everybody whom it concerns, on every replica. */
@Injectable()
export class LinkEffects {
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
