import { judgeIdentity, type EligibilityRecord, type OffboardingRules } from './offboarding.js';

/** SCIM, events of a stream, and universal logout, which only the next login answers. */
export type SignalSource = 'directory' | 'shared-signals' | 'sign-out';

/** The newest word of one source about a person. Logins and re-checks never change it. */
export interface SignalFact {
  readonly source: SignalSource;
  readonly isAllowed: boolean;
  /** Unix milliseconds. */
  readonly at: number;
}

export interface SignalledIdentity {
  readonly provider: string;
  /** Absent = no source reported anything about the person. */
  readonly signals?: readonly SignalFact[];
  /** True if the provider's directory has ever shown an active person. Absent = false. */
  readonly hasDirectory?: boolean;
}

export type SignalReason =
  | 'directory_inactive'
  | 'directory_missing'
  | 'signal_disabled'
  | 'signed_out';

export type SignalDecision =
  | { readonly isAllowed: true }
  | { readonly isAllowed: false; readonly reason: SignalReason };

/**
 * Each source can refuse; none can admit, as eligibility is judged as well. A required directory
 * has no effect until it has shown an active person: a connector that never delivered must not end
 * the access of all. One that becomes empty later refuses everyone.
 */
export function judgeSignals(
  { provider, signals = [], hasDirectory = false }: SignalledIdentity,
  directories: readonly string[] = [],
): SignalDecision {
  const refusals = signals.filter(({ isAllowed }) => !isAllowed).map(({ source }) => source);
  if (refusals.includes('directory')) {
    return { isAllowed: false, reason: 'directory_inactive' };
  }
  if (refusals.includes('shared-signals')) {
    return { isAllowed: false, reason: 'signal_disabled' };
  }
  const isActive = signals.some(({ source }) => source === 'directory');
  if (directories.includes(provider) && hasDirectory && !isActive) {
    return { isAllowed: false, reason: 'directory_missing' };
  }
  return refusals.includes('sign-out')
    ? { isAllowed: false, reason: 'signed_out' }
    : { isAllowed: true };
}

/** Joins the signals about an identity with its eligibility: both must allow it. */
export function judgeSignalledIdentity(
  identity: EligibilityRecord & SignalledIdentity,
  rules: OffboardingRules,
  now: number,
): ReturnType<typeof judgeIdentity> {
  const signals = judgeSignals(identity, rules.directories);
  const isSignedOut = !signals.isAllowed && signals.reason === 'signed_out';
  if (!signals.isAllowed && !isSignedOut) {
    return { isAllowed: false, code: 'not-eligible' };
  }
  const judged = judgeIdentity(identity, rules, now);
  return isSignedOut && judged.isAllowed ? { isAllowed: false, code: 'provider-required' } : judged;
}
