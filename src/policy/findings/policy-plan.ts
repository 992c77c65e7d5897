import { CERTIFICATES } from '../admission/admission.js';
import { judgeRecord, type CertificateRecord } from '../certificate/certificate-record.js';
import type { CertificateRules } from '../certificate/client-certificate.js';
import {
  type EligibilityStatus,
  judgeEligibility,
  type EligibilityFacts,
  type EligibilityRules,
} from '../eligibility/eligibility.js';
import { judgeIdentity, type OffboardingRules } from '../eligibility/offboarding.js';

/** A linked identity with what its provider said last. */
export interface KnownIdentity {
  readonly provider: string;
  readonly subject: string;
  readonly status: EligibilityStatus;
  readonly reason: string | null;
  readonly checkedAt: number | null;
  /** Checks without a definite answer since then. */
  readonly failures: number;
  /** null = the provider has not reported any yet. */
  readonly facts: EligibilityFacts | null;
  /** The certificate that was shown last; null = not a certificate, or linked before it was stored. */
  readonly certificate: CertificateRecord | null;
}

/** An account with its linked identities. */
export interface KnownAccount {
  /** Whether identities are its only login methods: it has no device key. */
  readonly isKeyless: boolean;
  readonly identities: readonly KnownIdentity[];
}

/** The part of a configuration that decides which accounts keep access. */
export interface OffboardingPolicy {
  readonly requiredLoginProviders: readonly string[];
  readonly offboarding: OffboardingRules;
  /** Of each configured provider. */
  readonly rules: ReadonlyMap<string, EligibilityRules>;
  /** null = certificates are not accepted. */
  readonly certificates: CertificateRules | null;
}

/** Whether an account keeps access; `unknown` where only the provider can decide. */
export type AccessOutcome = 'allowed' | 'refused' | 'unknown';

/** Whether an account has access under the policy as it is, by what is stored. */
export function judgeAccess(
  policy: OffboardingPolicy,
  account: KnownAccount,
  now: number,
): AccessOutcome {
  return combine(policy, account, (identity) => byRecord(policy, identity, now));
}

/**
 * Whether an account would keep access under a changed policy, judged on the last answers of its
 * providers and the last certificate. Authorities and revocations are not consulted. A no that the present rules do not explain came from the provider, and remains a no.
 */
export function predictAccess(
  present: OffboardingPolicy,
  changed: OffboardingPolicy,
  account: KnownAccount,
  now: number,
): AccessOutcome {
  return combine(changed, account, (identity) => {
    const before = judge(present, identity, now);
    const after = judge(changed, identity, now);
    if (after === null || (identity.status === 'ineligible' && before !== 'ineligible')) {
      return byRecord(changed, identity, now);
    }
    if (after !== 'eligible') {
      return after === 'ineligible' ? 'refused' : 'unknown';
    }
    return byRecord(changed, { ...identity, status: 'eligible' }, now);
  });
}

function byRecord({ offboarding }: OffboardingPolicy, identity: KnownIdentity, now: number) {
  return judgeIdentity(identity, offboarding, now).isAllowed ? 'allowed' : 'refused';
}

/** null = there is nothing to judge by: no rules for this provider, or nothing that it said. */
function judge(
  policy: OffboardingPolicy,
  { provider, subject, facts, certificate }: KnownIdentity,
  now: number,
): EligibilityStatus | null {
  if (provider === CERTIFICATES) {
    const verdict =
      policy.certificates && judgeRecord(certificate, subject, policy.certificates, now);
    // A certificate that was not seen is no answer: the last one stands.
    return verdict === null || verdict.kind === 'unknown' ? null : verdict.kind;
  }
  const rules = policy.rules.get(provider);
  return rules === undefined || facts === null
    ? null
    : judgeEligibility(rules, { subject, facts }).status;
}

function combine(
  { requiredLoginProviders }: OffboardingPolicy,
  { isKeyless, identities }: KnownAccount,
  judgeOne: (identity: KnownIdentity) => AccessOutcome,
): AccessOutcome {
  const stays = requiredLoginProviders.map((provider): AccessOutcome => {
    const identity = identities.find((one) => one.provider === provider);
    return identity === undefined ? 'refused' : judgeOne(identity);
  });
  if (isKeyless) {
    const best = firstOf(['allowed', 'unknown'], identities.map(judgeOne));
    stays.push(best ?? 'refused');
  }
  return firstOf(['refused', 'unknown'], stays) ?? 'allowed';
}

function firstOf(
  wanted: readonly AccessOutcome[],
  found: readonly AccessOutcome[],
): AccessOutcome | undefined {
  return wanted.find((outcome) => found.includes(outcome));
}
