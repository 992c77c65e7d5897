import type { EligibilityStatus, EligibilityVerdict } from './eligibility.js';

export interface OffboardingRules {
  readonly enabled: boolean;
  /** The time between a definite answer about an identity and its next scheduled check. */
  readonly intervalSeconds: number;
  /** True if a provider that gives no answer for a whole interval counts as a refusal. */
  readonly strict: boolean;
  /** Providers whose directory has to show a person as active. Absent or empty = none. */
  readonly directories?: readonly string[];
  /**
   * Methods with which accounts without a device key sign in. An identity of another one does not open such an account.
   * Absent = every identity opens it.
   */
  readonly keylessLogins?: readonly string[];
}

/** Times are Unix milliseconds. */
export interface EligibilityRecord {
  readonly status: EligibilityStatus;
  /** The reason against it, or the reason why the last check brought no answer. */
  readonly reason: string | null;
  /** Time of the provider's last definite answer; null = never. */
  readonly checkedAt: number | null;
  /** Checks without a definite answer since then. */
  readonly failures: number;
}

export interface ScheduledRecord extends EligibilityRecord {
  readonly nextCheckAt: number;
}

/** The answer of a provider, judged against the rules. */
export type ProviderVerdict =
  | { readonly kind: 'eligible' }
  | { readonly kind: 'ineligible'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string; readonly retryAfterMs?: number };

export type RecheckVerdict =
  | ProviderVerdict
  /** The provider gave nothing to ask with: only another login there brings an answer. */
  | { readonly kind: 'login_needed'; readonly reason: LoginNeededReason };

const LOGIN_NEEDED_REASONS = ['no_refresh_token', 'no_user_token', 'user_token_expired'] as const;

export type LoginNeededReason = (typeof LOGIN_NEEDED_REASONS)[number];

/** When a check began and ended, Unix milliseconds. */
interface CheckTimes {
  readonly startedAt: number;
  readonly now: number;
}

type IdentityDecision =
  /** `until`: from then on, Unix milliseconds, the answer is no unless a check renewed it. */
  | { readonly isAllowed: true; readonly until: number }
  | {
      readonly isAllowed: false;
      /** `provider-required`: signing in at the provider again is the way back. */
      readonly code: 'not-eligible' | 'provider-required';
      /** True if no provider refused: its last answer is too old. */
      readonly isOutdated?: true;
    };

/** The first check takes place after this share of the interval, or later. */
const EARLIEST_PHASE = 0.5;

/** Limit of a due check: its wait in the queue, and the requests to the provider. */
const LONGEST_CHECK_MS = 120_000;

const FIRST_RETRY_MS = 5_000;
/** Least number of attempts within an interval. */
const TRIES_PER_INTERVAL = 4;
/** A retry waits for at least this share of its delay. */
const RETRY_SPREAD = 0.5;

/**
 * Unknown refuses only where strict, once the last good answer is older than the interval and the
 * check that follows it must have ended. Where the provider gives nothing to ask with, the last
 * login counts for one interval in both modes (contract, Required providers and offboarding).
 */
export function judgeIdentity(
  identity: EligibilityRecord,
  rules: OffboardingRules,
  now: number,
): IdentityDecision {
  if (identity.status === 'ineligible') {
    return { isAllowed: false, code: 'not-eligible' };
  }
  const intervalMs = rules.intervalSeconds * 1000;
  if (rules.enabled && waitsForLogin(identity)) {
    const until = lastLoginCountsUntil(identity, rules);
    return now < until ? { isAllowed: true, until } : { isAllowed: false, code: LOGIN_NEEDED };
  }
  if (!rules.enabled || !rules.strict) {
    return { isAllowed: true, until: Infinity };
  }
  const pendingMs = Math.min(LONGEST_CHECK_MS, intervalMs / 2);
  const graceMs = identity.failures === 0 ? pendingMs : 0;
  const until = (identity.checkedAt ?? -Infinity) + intervalMs + graceMs;
  return now < until
    ? { isAllowed: true, until }
    : { isAllowed: false, code: 'not-eligible', isOutdated: true };
}

const LOGIN_NEEDED = 'provider-required';

export function waitsForLogin({ reason }: Pick<EligibilityRecord, 'reason'>): boolean {
  return LOGIN_NEEDED_REASONS.some((known) => known === reason);
}

function lastLoginCountsUntil(
  { checkedAt }: Pick<EligibilityRecord, 'checkedAt'>,
  { intervalSeconds }: OffboardingRules,
): number {
  return (checkedAt ?? -Infinity) + intervalSeconds * 1000;
}

/** @param random 0 to 1: spreads identities that were linked at the same time */
export function firstCheckAt(rules: OffboardingRules, now: number, random: number): number {
  return now + Math.round(rules.intervalSeconds * 1000 * (1 - EARLIEST_PHASE * random));
}

/**
 * Providers are asked once per interval; access ends after it, so neither earlier nor later.
 * @param startedAt start of the answered check
 */
export function nextCheckAt(rules: OffboardingRules, startedAt: number): number {
  return startedAt + rules.intervalSeconds * 1000;
}

/** Backs off exponentially within the interval. */
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

/** Without a definite answer the last one stays; strict mode stops trusting an old good one. */
export function applyRecheck(
  record: EligibilityRecord,
  verdict: RecheckVerdict,
  rules: OffboardingRules,
  { startedAt, now }: CheckTimes,
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
        nextCheckAt: nextCheckAt(rules, startedAt),
      };
    case 'unknown':
      return unanswered(record, verdict, rules, now, random);
    case 'login_needed':
      return awaitingLogin(record, verdict, rules, { startedAt, now });
  }
}

/** Another check before the next login is useless: the record waits for the interval's end. */
function awaitingLogin(
  record: EligibilityRecord,
  { reason }: Extract<RecheckVerdict, { kind: 'login_needed' }>,
  rules: OffboardingRules,
  { startedAt, now }: CheckTimes,
): ScheduledRecord {
  const { checkedAt, status } = record;
  const next = nextCheckAt(rules, startedAt);
  if (status === 'ineligible') {
    return { ...record, failures: 0, nextCheckAt: next };
  }
  const until = lastLoginCountsUntil(record, rules);
  return now < until
    ? { status, reason, checkedAt, failures: 0, nextCheckAt: Math.max(until, now + 1000) }
    : { status: 'unknown', reason, checkedAt, failures: 0, nextCheckAt: next };
}

/**
 * A refusal of the last answer by the current rules remains without a new answer.
 * @param verdict null = there was no answer
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
 * Returns true if an identity has to be checked now: rules changed, or another replica stored a
 * check under the former ones. `before` and `after`: the two verdicts on the last answer.
 */
export function isConcerned(
  status: EligibilityStatus,
  before: EligibilityStatus | null,
  after: EligibilityStatus | null,
): boolean {
  return after === null || after !== before || (after === 'ineligible' && status !== 'ineligible');
}

/**
 * Returns true if rules that are read at a start judge the last answer worse than it was judged.
 * @param after null = the rules cannot judge it
 */
export function losesAccess(status: EligibilityStatus, after: EligibilityStatus | null): boolean {
  return after === 'ineligible'
    ? status !== 'ineligible'
    : after === 'unknown' && status === 'eligible';
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
  const hasAnswer =
    record.status === 'ineligible' || (record.status === 'unknown' && waitsForLogin(record));
  return {
    status: isKept || hasAnswer ? record.status : 'unknown',
    reason: hasAnswer ? record.reason : verdict.reason,
    checkedAt: record.checkedAt,
    failures,
    nextCheckAt: retryCheckAt(rules, failures, now, random, verdict.retryAfterMs),
  };
}

/** The change of access that a check caused for the account. */
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

/** Events of GitHub's webhook that may end a membership, with the path of the user's id. */
const REMOVALS: Readonly<Record<string, readonly [action: string, path: readonly string[]]>> = {
  organization: ['member_removed', ['membership', 'user', 'id']],
  membership: ['removed', ['member', 'id']],
  github_app_authorization: ['revoked', ['sender', 'id']],
};

/** Returns the numeric id of the user as text; null for any other event. */
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
