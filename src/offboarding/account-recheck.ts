import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Clock } from '../common/clock.js';
import { authConfig } from '../config/auth.config.js';
import { IdentityChanges } from '../identities/identity-changes.js';
import { Metrics } from '../metrics/metrics.js';
import type { AuditEvent } from '../policy/audit-event.js';
import { CERTIFICATES } from '../policy/admission/admission.js';
import { endOf } from '../policy/certificate/certificate-record.js';
import { judgeEligibility } from '../policy/eligibility/eligibility.js';
import { isOfAuthority } from '../policy/eligibility/identity-link.js';
import {
  applyRecheck,
  changeBetween,
  underCurrentRules,
  type EligibilityRecord,
  type RecheckVerdict,
  type ScheduledRecord,
} from '../policy/eligibility/offboarding.js';
import { CertificateStatus } from '../providers/certificate/certificate-status.js';
import type { ProviderProfile, Recheck } from '../providers/identity-provider.js';
import { ProviderRegistry } from '../providers/provider-registry.js';
import {
  IdentityDueRepository,
  type LeasedIdentity,
} from '../storage/repositories/identity-due.repository.js';
import { BrokenSealError } from '../storage/sealing/sealed-box.js';
import { CertificateSessions } from './certificate-sessions.js';

/**
 * Pauses between tries to store a rotated refresh token, in milliseconds: the old one is spent, so
 * giving up early would end the user's access.
 */
const SAVE_RETRIES_MS = [100, 500, 2000, 5000];

export interface RecheckOutcome {
  readonly kind: RecheckVerdict['kind'] | 'lost_lease';
  /** Why it is no yes. */
  readonly reason?: string;
  /** The provider asks to be left alone for that long. */
  readonly retryAfterMs?: number;
}

/** Re-checks one leased identity: asks its provider, judges, stores and announces. */
@Injectable()
export class AccountRecheck {
  constructor(
    private readonly providers: ProviderRegistry,
    private readonly certificates: CertificateStatus,
    private readonly certificateSessions: CertificateSessions,
    private readonly identities: IdentityDueRepository,
    private readonly changes: IdentityChanges,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
    @Inject(authConfig.KEY) private readonly config: ConfigType<typeof authConfig>,
  ) {}

  /** @throws AppError `unavailable`: nothing is stored, and the lease runs out */
  async recheck(identity: LeasedIdentity, signal: AbortSignal): Promise<RecheckOutcome> {
    const askedAt = this.clock.now();
    const { verdict, profile } = await this.verdictOn(identity, signal);
    const now = this.clock.now();
    const rules = this.config.offboarding;
    const before = verdict.kind === 'unknown' ? this.underCurrentRules(identity) : identity.record;
    const record = untilExpiry(
      applyRecheck(before, verdict, rules, { askedAt, now }, Math.random()),
      identity,
    );
    const event = eventFor(identity, record);
    const facts = profile?.facts ?? null;
    const issuer = facts && (this.providers.authority(identity.provider)?.issuer ?? null);
    const result = { record, facts, issuer, event };
    const stored = await this.identities.store(identity, result, new Date(now));
    if (stored === null) {
      return { kind: 'lost_lease' };
    }
    if (event !== null) {
      this.announce(identity, event, stored);
    }
    return verdict;
  }

  private announce(
    { accountId, provider, dueAt }: LeasedIdentity,
    event: AuditEvent,
    { seq, isKeyless }: { readonly seq: number | null; readonly isKeyless: boolean },
  ): void {
    const closes = event.kind === 'eligibility-lost' ? 'not-eligible' : undefined;
    const hasClosed = this.changes.announce({ accountId, seq, event }, closes, provider);
    if (hasClosed || (isKeyless && closes !== undefined)) {
      this.metrics.revocation.observe(Math.max(this.clock.now() - dueAt, 0) / 1000);
    }
  }

  private async verdictOn(
    identity: LeasedIdentity,
    signal: AbortSignal,
  ): Promise<{ readonly verdict: RecheckVerdict; readonly profile: ProviderProfile | null }> {
    const { provider, certificate, subject } = identity;
    if (provider === CERTIFICATES) {
      await this.certificateSessions.recheck(identity);
      const verdict = await this.certificates.judge(certificate, subject, true);
      return { verdict, profile: null };
    }
    const answer = await this.ask(identity, signal);
    const profile = answer.outcome === 'profile' ? answer.profile : null;
    return { verdict: this.judge(identity, answer), profile };
  }

  private underCurrentRules({ provider, subject, facts, record }: LeasedIdentity) {
    const rules = this.providers.rules(provider);
    const hasBoth = rules !== undefined && facts !== null;
    return underCurrentRules(record, hasBoth ? judgeEligibility(rules, { subject, facts }) : null);
  }

  private async ask(identity: LeasedIdentity, signal: AbortSignal): Promise<Recheck> {
    const provider = this.providers.get(identity.provider);
    const authority = this.providers.authority(identity.provider);
    if (provider === undefined || authority === undefined) {
      return { outcome: 'unknown', reason: 'provider_not_configured' };
    }
    // Another issuer neither knows this person nor may see what the first one gave for them.
    if (!isOfAuthority(identity.issuer, authority)) {
      return { outcome: 'unknown', reason: 'issuer_changed' };
    }
    try {
      const { subject, login } = identity;
      const credentials = this.identities.openCredentials(identity);
      const saveCredentials = (renewed: string): Promise<void> => this.save(identity, renewed);
      return await provider.recheck({ subject, login, credentials, saveCredentials }, signal);
    } catch (error) {
      if (error instanceof BrokenSealError) {
        return { outcome: 'unknown', reason: 'credentials_unreadable' };
      }
      throw error;
    }
  }

  /** A lost lease is no failure: the newer login that took it has newer credentials as well. */
  private async save(identity: LeasedIdentity, renewed: string): Promise<void> {
    for (const pauseMs of SAVE_RETRIES_MS) {
      try {
        await this.identities.saveCredentials(identity, renewed);
        return;
      } catch {
        await sleep(pauseMs);
      }
    }
    await this.identities.saveCredentials(identity, renewed);
  }

  private judge({ provider, subject }: LeasedIdentity, answer: Recheck): RecheckVerdict {
    switch (answer.outcome) {
      case 'gone':
        return { kind: 'ineligible', reason: answer.reason };
      case 'unknown': {
        const { outcome: kind, reason, retryAfterMs } = answer;
        return { kind, reason, ...(retryAfterMs !== undefined && { retryAfterMs }) };
      }
      case 'profile': {
        if (answer.profile.subject !== subject) {
          return { kind: 'unknown', reason: 'subject_mismatch' };
        }
        const rules = this.providers.rules(provider);
        if (rules === undefined) {
          return { kind: 'unknown', reason: 'provider_not_configured' };
        }
        const verdict = judgeEligibility(rules, answer.profile);
        return verdict.status === 'eligible'
          ? { kind: 'eligible' }
          : { kind: verdict.status, reason: verdict.reason };
      }
    }
  }
}

/** A certificate that ends before its next check is checked when it ends. */
function untilExpiry(record: ScheduledRecord, { certificate }: LeasedIdentity): ScheduledRecord {
  const end = record.status === 'eligible' ? endOf(certificate) : null;
  // The last moment of its validity is still one of it (RFC 5280, 4.1.2.5).
  return end === null ? record : { ...record, nextCheckAt: Math.min(record.nextCheckAt, end + 1) };
}

/** The trace of a change of access; null when there was none. */
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
