import type { EligibilityStatus, EligibilityVerdict } from './eligibility.js';

/** The operator's decisions about offboarding. */
export interface OffboardingRules {
  readonly enabled: boolean;
  /** The time between a definite answer about an identity and its next scheduled check. */
  readonly intervalSeconds: number;
  /** Whether a provider that gives no answer for a whole interval counts as a no. */
  readonly strict: boolean;
}

/** The part of an identity record that eligibility hangs on. Times are Unix milliseconds. */
export interface EligibilityRecord {
  readonly status: EligibilityStatus;
  readonly reason: string | null;
  /** When the provider last gave a definite answer, yes or no; null = never. */
  readonly checkedAt: number | null;
  /** Checks without a definite answer since then. */
  readonly failures: number;
}

/** A record after a check, with the time of its next one. */
export interface ScheduledRecord extends EligibilityRecord {
  readonly nextCheckAt: number;
}

/** What one re-check came to, judged against the provider's rules. */
export type RecheckVerdict =
  | { readonly kind: 'eligible' }
  | { readonly kind: 'ineligible'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string; readonly retryAfterMs?: number };

/** When a check began and ended, Unix milliseconds. */
export interface CheckTimes {
  readonly askedAt: number;
  readonly now: number;
}

export type IdentityDecision =
  /** `until`: from then on, Unix milliseconds, the answer is no unless a check renewed it. */
  { readonly isAllowed: true; readonly until: number } | { readonly isAllowed: false };

/** The first check of an identity comes after this share of the interval at the earliest. */
const EARLIEST_PHASE = 0.5;

/** For a check that is due: its place in the queue, and the requests to the provider. */
const LONGEST_CHECK_MS = 120_000;

const FIRST_RETRY_MS = 5_000;
/** At least this many tries fit into an interval. */
const TRIES_PER_INTERVAL = 4;
/** A retry waits between this share of its delay and all of it. */
const RETRY_SPREAD = 0.5;

/**
 * Whether the cached eligibility of an identity allows access (contract, Required providers
 * and offboarding). Unknown is a no only where strict, once the last good answer is older than the
 * interval; where nothing is re-checked, strict has no meaning. A check takes place after the
 * interval, so an answer that no check has failed to renew counts until that one must have ended.
 */
export function judgeIdentity(
  identity: Omit<EligibilityRecord, 'reason'>,
  rules: OffboardingRules,
  now: number,
): IdentityDecision {
  if (identity.status === 'ineligible') {
    return { isAllowed: false };
  }
  if (!rules.enabled || !rules.strict) {
    return { isAllowed: true, until: Infinity };
  }
  const intervalMs = rules.intervalSeconds * 1000;
  const pendingMs = Math.min(LONGEST_CHECK_MS, intervalMs / 2);
  const graceMs = identity.failures === 0 ? pendingMs : 0;
  const until = (identity.checkedAt ?? -Infinity) + intervalMs + graceMs;
  return now < until ? { isAllowed: true, until } : { isAllowed: false };
}

/**
 * When an identity that was just linked is checked for the first time, within the interval.
 *
 * @param random 0 to 1: spreads identities that were linked at the same moment
 */
export function firstCheckAt(rules: OffboardingRules, now: number, random: number): number {
  return now + Math.round(rules.intervalSeconds * 1000 * (1 - EARLIEST_PHASE * random));
}

/**
 * When an identity with a definite answer is checked again: neither earlier, as providers are asked
 * once per interval, nor later, as access ends within it.
 *
 * @param askedAt when the check that was answered began
 */
export function nextCheckAt(rules: OffboardingRules, askedAt: number): number {
  return askedAt + rules.intervalSeconds * 1000;
}

/** When to ask again after `failures` checks without an answer: doubling, within the interval. */
export function retryCheckAt(
  rules: OffboardingRules,
  failures: number,
  now: number,
  random: number,
  retryAfterMs = 0,
): number {
  const longest = (rules.intervalSeconds * 1000) / TRIES_PER_INTERVAL;
  const delay = Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 20), longest);
  const spread = delay * (1 - RETRY_SPREAD * random);
  // A retry time of the provider is respected, up to one interval.
  return now + Math.round(Math.max(spread, Math.min(retryAfterMs, rules.intervalSeconds * 1000)));
}

/**
 * What a re-check does to the record. A definite answer counts in both modes; without one the last
 * answer stays, except that strict stops trusting a good one that has grown too old.
 */
export function applyRecheck(
  record: EligibilityRecord,
  verdict: RecheckVerdict,
  rules: OffboardingRules,
  { askedAt, now }: CheckTimes,
  random: number,
): ScheduledRecord {
  switch (verdict.kind) {
    case 'eligible':
    case 'ineligible':
      return {
        status: verdict.kind,
        reason: verdict.kind === 'ineligible' ? verdict.reason : null,
        checkedAt: now,
        failures: 0,
        nextCheckAt: nextCheckAt(rules, askedAt),
      };
    case 'unknown':
      return unanswered(record, verdict, rules, now, random);
  }
}

/**
 * The record before a check, where the last answer would be a no under the rules as they are now:
 * that stands as any no does when the provider gives no answer.
 *
 * @param verdict on the facts of the last answer; null = there are none
 */
export function underCurrentRules(
  record: EligibilityRecord,
  verdict: EligibilityVerdict | null,
): EligibilityRecord {
  return verdict?.status === 'ineligible' && record.status !== 'ineligible'
    ? { ...record, status: verdict.status, reason: verdict.reason }
    : record;
}

/**
 * Whether changed rules may change what is stored of an identity, so that it has to be checked now. It
 * also has to where a check under the former rules, by another replica, is what was stored.
 *
 * @param before what the former rules make of the last answer; null = there is none to judge
 * @param after what the changed rules make of it
 */
export function isConcerned(
  status: EligibilityStatus,
  before: EligibilityStatus | null,
  after: EligibilityStatus | null,
): boolean {
  return after === null || after !== before || (after === 'ineligible' && status !== 'ineligible');
}

function unanswered(
  record: EligibilityRecord,
  verdict: Extract<RecheckVerdict, { kind: 'unknown' }>,
  rules: OffboardingRules,
  now: number,
  random: number,
): ScheduledRecord {
  const failures = record.failures + 1;
  const isKept = judgeIdentity({ ...record, failures }, rules, now).isAllowed;
  const hasAnswer = record.status === 'ineligible';
  return {
    status: isKept || hasAnswer ? record.status : 'unknown',
    reason: hasAnswer ? record.reason : verdict.reason,
    checkedAt: record.checkedAt,
    failures,
    nextCheckAt: retryCheckAt(rules, failures, now, random, verdict.retryAfterMs),
  };
}

/** What a check changed for the account, as far as access is concerned. */
export function changeBetween(
  before: EligibilityRecord,
  after: EligibilityRecord,
): 'lost' | 'regained' | 'none' {
  const isRefused = after.status === 'ineligible' && before.status !== 'ineligible';
  const isDistrusted = after.status === 'unknown' && before.status === 'eligible';
  if (isRefused || isDistrusted) {
    return 'lost';
  }
  return after.status === 'eligible' && before.status !== 'eligible' ? 'regained' : 'none';
}

/** Events of GitHub's webhook after which a user may have lost membership, with the path of the user's id. */
const REMOVALS: Readonly<Record<string, readonly [action: string, path: readonly string[]]>> = {
  organization: ['member_removed', ['membership', 'user', 'id']],
  membership: ['removed', ['member', 'id']],
  github_app_authorization: ['revoked', ['sender', 'id']],
};

/** The numeric id of the user who may have lost membership, as text; null for any other event. */
export function removedUserIn(event: string, payload: unknown): string | null {
  const row = Object.hasOwn(REMOVALS, event) ? REMOVALS[event] : undefined;
  if (row === undefined || valueAt(payload, ['action']) !== row[0]) {
    return null;
  }
  const id = valueAt(payload, row[1]);
  return Number.isSafeInteger(id) ? String(id) : null;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (part, name) =>
      typeof part === 'object' && part !== null && Object.hasOwn(part, name)
        ? (part as Record<string, unknown>)[name]
        : undefined,
    value,
  );
}
