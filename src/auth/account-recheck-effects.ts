import { Inject, Injectable } from '@nestjs/common';
import { AuditLog } from '../audit/audit-log.js';
import { Clock } from '../common/clock.js';
import { SETTINGS, type Settings } from '../config/settings.js';
import { Metrics } from '../metrics/metrics.js';
import type { AuditEvent } from '../policy/audit-event.js';
import type { LeasedIdentity } from '../storage/identity-due.repository.js';
import { AccessChanges } from './access-changes.js';
import { AccountUpdates } from './account-updates.js';

/** Carries a stored change of eligibility to everybody whom it concerns, on every replica. */
@Injectable()
export class RecheckEffects {
  constructor(
    private readonly changes: AccessChanges,
    private readonly updates: AccountUpdates,
    private readonly audit: AuditLog,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** @param seq of the update that the account's clients get; null when the account is gone */
  announce({ accountId, provider, dueAt }: LeasedIdentity, event: AuditEvent, seq: number | null) {
    // Before the connections end, so that those who are put out see why in their profile.
    if (seq !== null) {
      this.updates.announce(accountId, seq, { t: 'identities-changed' });
    }
    const isRequired = this.settings.auth.requiredLoginProviders.includes(provider);
    const closes = isRequired && event.kind === 'eligibility-lost';
    this.changes.announce({ accountId, ...(closes && { closes: 'not-eligible', provider }) });
    if (closes) {
      this.metrics.revocation.observe(Math.max(this.clock.now() - dueAt, 0) / 1000);
    }
    this.audit.tell(event);
  }
}
