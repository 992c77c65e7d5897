import { judgeIdentity, type EligibilityRecord, type OffboardingRules } from './offboarding.js';

/** `directory`: SCIM requests. `shared-signals`: events of the provider's stream. */
export type SignalSource = 'directory' | 'shared-signals';

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

export type SignalReason = 'directory_inactive' | 'directory_missing' | 'signal_disabled';

export type SignalDecision =
  { readonly isAllowed: true } | { readonly isAllowed: false; readonly reason: SignalReason };

/**
 * Judges the signals about an identity. Each source can refuse; none can admit, because eligibility
 * is judged as well. A required directory has no effect until it has shown an active person: a
 * connector that has never delivered anything must not end the access of all people. One that
 * becomes empty later refuses everyone.
 *
 * @param directories ids of providers whose directory has to show a person as active; empty = none
 */
export function judgeSignals(
  { provider, signals = [], hasDirectory = false }: SignalledIdentity,
  directories: readonly string[] = [],
): SignalDecision {
  const refusal = signals.find(({ isAllowed }) => !isAllowed);
  if (refusal !== undefined) {
    const reason = refusal.source === 'directory' ? 'directory_inactive' : 'signal_disabled';
    return { isAllowed: false, reason };
  }
  const isActive = signals.some(({ source }) => source === 'directory');
  return directories.includes(provider) && hasDirectory && !isActive
    ? { isAllowed: false, reason: 'directory_missing' }
    : { isAllowed: true };
}

/** Joins the signals about an identity with its eligibility: both must allow it. */
export function judgeSignalledIdentity(
  identity: EligibilityRecord & SignalledIdentity,
  rules: OffboardingRules,
  now: number,
): ReturnType<typeof judgeIdentity> {
  return judgeSignals(identity, rules.directories).isAllowed
    ? judgeIdentity(identity, rules, now)
    : { isAllowed: false, code: 'not-eligible' };
}
