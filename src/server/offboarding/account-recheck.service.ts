import { Inject, Injectable } from '@nestjs/common';
import { Runtime } from '../../common/runtime/runtime.js';
import { authConfig, type AuthSettings } from '../config/auth.config.js';
import { IdentityChangesService } from '../identities/identity-changes.service.js';
import { MetricsService } from '../metrics/metrics.service.js';
import type { AuditEvent } from '../../core/policy/audit-event.js';
import { endOf } from '../../core/policy/certificate/certificate-record.js';
import {
  applyRecheck,
  waitsForLogin,
  changeBetween,
  type EligibilityRecord,
  type RecheckVerdict,
  type ScheduledRecord,
} from '../../core/policy/eligibility/offboarding.js';
import { OPERATOR_FAILURES } from '../providers/http/upstream-http.js';
import type {
  LeasedIdentity,
  StoredResult,
} from '../storage/repositories/identity-due.repository.js';
import { LostLeaseError, RecheckResultsService } from './recheck-results.service.js';
import { RecheckVerdictService } from './recheck-verdict.service.js';

export interface RecheckOutcome {
  readonly kind: RecheckVerdict['kind'] | 'lost_lease';
  /** Reason of an answer other than yes. */
  readonly reason?: string;
  /** Milliseconds during which the provider asks for no requests. */
  readonly retryAfterMs?: number;
}

@Injectable()
export class AccountRecheckService {
  constructor(
    private readonly verdicts: RecheckVerdictService,
    private readonly results: RecheckResultsService,
    private readonly changes: IdentityChangesService,
    private readonly metrics: MetricsService,
    private readonly runtime: Runtime,
    @Inject(authConfig.KEY) private readonly config: AuthSettings,
  ) {}

  /** @throws AppError `unavailable`: nothing is stored, and the lease expires */
  async recheck(identity: LeasedIdentity, signal: AbortSignal): Promise<RecheckOutcome> {
    const outcome = await this.outcomeOf(identity, signal).catch(unlessLeaseIsLost);
    // A failure of the operator's configuration, not of the person or the provider.
    const isRefused =
      outcome.kind === 'unknown' && OPERATOR_FAILURES.includes(outcome.reason ?? '');
    this.metrics.eligibilityChecks.inc({
      provider: identity.provider,
      outcome: isRefused ? (outcome.reason ?? '') : outcome.kind,
    });
    return outcome;
  }

  private async outcomeOf(identity: LeasedIdentity, signal: AbortSignal): Promise<RecheckOutcome> {
    const { clock, random } = this.runtime;
    const startedAt = clock.now();
    const { verdict, facts, issuer, isOutdated } = await this.verdicts.ask(identity, signal);
    const now = clock.now();
    const rules = this.config.offboarding;
    const isAnswered = verdict.kind === 'eligible' || verdict.kind === 'ineligible';
    const before = isAnswered ? identity.record : this.verdicts.underCurrentRules(identity);
    const record = untilExpiry(
      applyRecheck(before, verdict, rules, { startedAt, now }, random.fraction()),
      identity,
    );
    const event = eventFor(identity, record);
    const result = { record, facts, issuer, event };
    const [stored, refused] = await this.results.store(identity, result, new Date(now), signal);
    if (event !== null) {
      this.announce(identity, record, event, stored);
    }
    if (refused !== null) {
      this.changes.announceSignal(refused, identity.provider, 'not-eligible');
    }
    if (isOutdated()) {
      await this.results.makeDue(identity);
    }
    return verdict;
  }

  private announce(
    { accountId, provider, dueAt }: LeasedIdentity,
    record: EligibilityRecord,
    event: AuditEvent,
    { seq, isKeyless }: StoredResult,
  ): void {
    const needsLogin = record.status === 'unknown' && waitsForLogin(record);
    const code = needsLogin ? 'provider-required' : 'not-eligible';
    const closes = event.kind === 'eligibility-lost' ? code : undefined;
    const hasClosed = this.changes.announce({ accountId, seq, event }, closes, provider);
    if (hasClosed || (isKeyless && closes !== undefined)) {
      this.metrics.revocation.observe(Math.max(this.runtime.clock.now() - dueAt, 0) / 1000);
    }
  }
}

function unlessLeaseIsLost(error: unknown): RecheckOutcome {
  if (error instanceof LostLeaseError) {
    return { kind: 'lost_lease' };
  }
  throw error;
}

/** A certificate that expires before its next check is checked at its expiry. */
function untilExpiry(record: ScheduledRecord, { certificate }: LeasedIdentity): ScheduledRecord {
  const end = record.status === 'eligible' ? endOf(certificate) : null;
  // The certificate is still valid at its notAfter time (RFC 5280, 4.1.2.5).
  return end === null ? record : { ...record, nextCheckAt: Math.min(record.nextCheckAt, end + 1) };
}

function eventFor(identity: LeasedIdentity, after: EligibilityRecord): AuditEvent | null {
  const change = changeBetween(identity.record, after);
  if (change === 'none') {
    return null;
  }
  return {
    kind: change === 'lost' ? 'eligibility-lost' : 'eligibility-regained',
    actor: 'provider',
    accountId: identity.accountId,
    provider: identity.provider,
    ...(after.reason !== null && { reason: after.reason }),
  };
}
