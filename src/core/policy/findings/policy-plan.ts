import { openingIdentities } from '../admission/access.js';
import { CERTIFICATES } from '../admission/admission.js';
import { judgeRecord, type CertificateRecord } from '../certificate/certificate-record.js';
import type { CertificateRules } from '../certificate/client-certificate.js';
import {
  judgeEligibility,
  type EligibilityFacts,
  type EligibilityRules,
} from '../eligibility/eligibility.js';
import {
  waitsForLogin,
  type EligibilityRecord,
  type OffboardingRules,
} from '../eligibility/offboarding.js';
import {
  judgeSignalledIdentity,
  judgeSignals,
  type SignalledIdentity,
} from '../eligibility/signals.js';

export interface KnownIdentity extends SignalledIdentity, EligibilityRecord {
  readonly subject: string;
  /** null = the provider has not reported any yet. */
  readonly facts: EligibilityFacts | null;
  /** The last presented certificate; null = not a certificate, or linked before it was stored. */
  readonly certificate: CertificateRecord | null;
}

export interface KnownAccount {
  /** True if identities are its only login methods: it has no device key. */
  readonly isKeyless: boolean;
  readonly identities: readonly KnownIdentity[];
}

export interface OffboardingPolicy {
  readonly requiredLoginProviders: readonly string[];
  readonly offboarding: OffboardingRules;
  readonly rules: ReadonlyMap<string, EligibilityRules>;
  /** null = certificates are not accepted. */
  readonly certificates: CertificateRules | null;
}

/** True if an account keeps access; `unknown` where only the provider can decide. */
export type AccessOutcome = 'allowed' | 'refused' | 'unknown';

export function judgeAccess(
  policy: OffboardingPolicy,
  account: KnownAccount,
  now: number,
): AccessOutcome {
  return combine(policy, account, (identity) => byRecord(policy, identity, now));
}

/**
 * Predicts from the last answers and certificates, without authorities and revocations. A refusal
 * that the present rules do not explain came from the provider, and remains.
 */
export function predictAccess(
  present: OffboardingPolicy,
  changed: OffboardingPolicy,
  account: KnownAccount,
  now: number,
): AccessOutcome {
  return combine(changed, account, (identity) => {
    if (!judgeSignals(identity, changed.offboarding.directories).isAllowed) {
      return 'refused';
    }
    const before = judge(present, identity, now);
    const after = judge(changed, identity, now);
    if (after === null || (identity.status === 'ineligible' && before !== 'ineligible')) {
      return byRecord(changed, identity, now);
    }
    if (after !== 'eligible') {
      return after === 'ineligible' ? 'refused' : 'unknown';
    }
    // Changed rules bring no answer where only another login does.
    const status = waitsForLogin(identity) ? identity.status : 'eligible';
    return byRecord(changed, { ...identity, status }, now);
  });
}

function byRecord({ offboarding }: OffboardingPolicy, identity: KnownIdentity, now: number) {
  return judgeSignalledIdentity(identity, offboarding, now).isAllowed ? 'allowed' : 'refused';
}

function judge(
  policy: OffboardingPolicy,
  { provider, subject, facts, certificate }: KnownIdentity,
  now: number,
): EligibilityRecord['status'] | null {
  if (provider === CERTIFICATES) {
    const verdict =
      policy.certificates && judgeRecord(certificate, subject, policy.certificates, now);
    // A certificate that was not presented gives no answer, so the last verdict stands.
    return verdict === null || verdict.kind === 'unknown' ? null : verdict.kind;
  }
  const rules = policy.rules.get(provider);
  return rules === undefined || facts === null
    ? null
    : judgeEligibility(rules, { subject, facts }).status;
}

function combine(
  { requiredLoginProviders, offboarding }: OffboardingPolicy,
  { isKeyless, identities }: KnownAccount,
  judgeOne: (identity: KnownIdentity) => AccessOutcome,
): AccessOutcome {
  const stays = requiredLoginProviders.map((provider): AccessOutcome => {
    const identity = identities.find((one) => one.provider === provider);
    return identity === undefined ? 'refused' : judgeOne(identity);
  });
  if (isKeyless) {
    const opening = openingIdentities(identities, offboarding);
    const best = firstOf(['allowed', 'unknown'], opening.map(judgeOne));
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
