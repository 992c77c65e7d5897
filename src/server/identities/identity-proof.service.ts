import { Inject, Injectable } from '@nestjs/common';
import { RefusedPeopleService } from '../audit/refused-people.service.js';
import { orRefuse } from '../../common/errors.js';
import { Random } from '../../common/runtime/random.js';
import { authConfig, type AuthSettings } from '../config/auth.config.js';
import { endOf, type CertificateRecord } from '../../core/policy/certificate/certificate-record.js';
import {
  judgeEligibility,
  type EligibilityVerdict,
} from '../../core/policy/eligibility/eligibility.js';
import type { Authority } from '../../core/policy/eligibility/identity-link.js';
import { firstCheckAt, nextCheckAt } from '../../core/policy/eligibility/offboarding.js';
import type { ProviderProfile } from '../providers/identity-provider.js';
import { ProviderRegistry } from '../providers/provider.registry.js';
import {
  IdentityRepository,
  type ProvenIdentity,
} from '../storage/repositories/identity.repository.js';
import { IdentityChangesService } from './identity-changes.service.js';

/** An identity proven by a provider or a certificate. */
export interface IdentityProof extends Pick<
  ProvenIdentity,
  'provider' | 'subject' | 'facts' | 'credentials'
> {
  /** The certificate that proved the identity. Default: none. */
  readonly certificate?: CertificateRecord | null;
  /** Time of the proof, Unix milliseconds. */
  readonly checkedAt: number;
}

/** Judges proven identities by the operator's rules, builds their records and stores refusals. */
@Injectable()
export class IdentityProofService {
  constructor(
    private readonly providers: ProviderRegistry,
    private readonly identities: IdentityRepository,
    private readonly changes: IdentityChangesService,
    private readonly refusals: RefusedPeopleService,
    private readonly random: Random,
    @Inject(authConfig.KEY) private readonly auth: AuthSettings,
  ) {}

  /** @throws AppError `unsupported-provider` */
  judge(provider: string, person: ProviderProfile): EligibilityVerdict {
    const rules = orRefuse(this.providers.rules(provider), 'unsupported-provider');
    return judgeEligibility(rules, person);
  }

  /** @throws AppError `unsupported-provider` */
  authorityOf(provider: string): Authority {
    return orRefuse(this.providers.authority(provider), 'unsupported-provider');
  }

  /** @param authority null for a certificate, whose issuer names no subjects here */
  toProvenIdentity(proof: IdentityProof, authority: Authority | null): ProvenIdentity {
    const { checkedAt, certificate = null } = proof;
    const { offboarding } = this.auth;
    // The expiry of a certificate is known in advance and applies at once.
    const dueAt = (at: number): Date | null =>
      offboarding.enabled ? new Date(Math.min(at, (endOf(certificate) ?? Infinity) + 1)) : null;
    return {
      ...proof,
      authority,
      certificate,
      checkedAt: new Date(checkedAt),
      firstCheckAt: dueAt(firstCheckAt(offboarding, checkedAt, this.random.fraction())),
      nextCheckAt: dueAt(nextCheckAt(offboarding, checkedAt)),
    };
  }

  /**
   * Stores the refusal of a person for the operator, and of a linked identity, announcing it.
   * @param address of the client; null = it is not known
   */
  async refuse(proven: ProvenIdentity, reason: string, address: string | null): Promise<void> {
    const { provider, subject, facts } = proven;
    await this.refusals.add({ provider, subject, facts, address, reason }, 'login-refused');
    const change = await this.identities.recordRefusal(proven, reason);
    if (change !== null) {
      this.changes.announce(change, 'not-eligible', proven.provider);
    }
  }
}
