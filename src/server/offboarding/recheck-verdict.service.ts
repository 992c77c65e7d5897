import { Injectable } from '@nestjs/common';
import { Timers } from '../../common/runtime/timers.js';
import { OperatorRulesService } from '../config/operator-rules.service.js';
import { CERTIFICATES } from '../../core/policy/admission/admission.js';
import { judgeEligibility } from '../../core/policy/eligibility/eligibility.js';
import { isOfAuthority } from '../../core/policy/eligibility/identity-link.js';
import {
  underCurrentRules,
  type EligibilityRecord,
  type RecheckVerdict,
} from '../../core/policy/eligibility/offboarding.js';
import { CertificateStatusService } from '../providers/certificate/certificate-status.service.js';
import type { Recheck } from '../providers/identity-provider.js';
import { ProviderRegistry } from '../providers/provider.registry.js';
import {
  IdentityDueRepository,
  type LeasedIdentity,
} from '../storage/repositories/identity-due.repository.js';
import { BrokenSealError } from '../storage/sealing/sealed-box.service.js';
import { CertificateSessionsService } from './certificate-sessions.service.js';

/**
 * Pauses between attempts to store a rotated refresh token, in milliseconds: the old token is
 * invalid, so a lost new one would end the user's access. They take as long as the lease keeps other
 * replicas from the old token, which a failover of the database does not.
 */
const SAVE_RETRIES_MS = [100, 500, 2000, ...Array<number>(28).fill(5000)];

/** Asks the provider of a leased identity about it, and judges the answer. */
@Injectable()
export class RecheckVerdictService {
  constructor(
    private readonly providers: ProviderRegistry,
    private readonly certificates: CertificateStatusService,
    private readonly certificateSessions: CertificateSessionsService,
    private readonly identities: IdentityDueRepository,
    private readonly rules: OperatorRulesService,
    private readonly timers: Timers,
  ) {}

  /**
   * @returns the verdict of the current rules, and the facts of a new profile with their issuer. `isOutdated` says
   * whether the rules have changed since.
   */
  async ask(identity: LeasedIdentity, signal: AbortSignal) {
    const { provider, certificate, subject } = identity;
    const rules = this.rules.current();
    const isOutdated = (): boolean => this.rules.current() !== rules;
    if (provider === CERTIFICATES) {
      await this.certificateSessions.recheck(identity);
      const verdict = await this.certificates.judge(certificate, subject, true);
      return { verdict, facts: null, issuer: null, isOutdated };
    }
    const answer = await this.askProvider(identity, signal);
    const facts = answer.outcome === 'profile' ? answer.profile.facts : null;
    const issuer = facts && (this.providers.authority(provider)?.issuer ?? null);
    return { verdict: this.judge(identity, answer), facts, issuer, isOutdated };
  }

  /** Judges the stored facts of an identity again, where its provider did not answer. */
  underCurrentRules({ provider, subject, facts, record }: LeasedIdentity): EligibilityRecord {
    const rules = this.providers.rules(provider);
    const hasBoth = rules !== undefined && facts !== null;
    return underCurrentRules(record, hasBoth ? judgeEligibility(rules, { subject, facts }) : null);
  }

  private async askProvider(identity: LeasedIdentity, signal: AbortSignal): Promise<Recheck> {
    const provider = this.providers.get(identity.provider);
    const authority = this.providers.authority(identity.provider);
    if (provider === undefined || authority === undefined) {
      return { outcome: 'unknown', reason: 'provider_not_configured' };
    }
    // Another issuer does not know this person, and must not receive the credentials of the first
    // one.
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

  /** A lost lease is not a failure: the newer login has newer credentials as well. */
  private async save(identity: LeasedIdentity, renewed: string): Promise<void> {
    for (const pauseMs of SAVE_RETRIES_MS) {
      try {
        await this.identities.saveCredentials(identity, renewed);
        return;
      } catch {
        await this.timers.sleep(pauseMs);
      }
    }
    await this.identities.saveCredentials(identity, renewed);
  }

  private judge({ provider, subject }: LeasedIdentity, answer: Recheck): RecheckVerdict {
    switch (answer.outcome) {
      case 'gone':
        return { kind: 'ineligible', reason: answer.reason };
      case 'login_needed':
        return { kind: answer.outcome, reason: answer.reason };
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
