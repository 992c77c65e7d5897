import type { AccessPolicyFacts } from './access-facts.js';
import { LOCKOUT_ERRORS } from './lockout-errors.js';
import { LOCKOUT_NOTICES } from './lockout-notices.js';
import type { LockoutRule } from './lockout-rule.js';
import { LOCKOUT_WARNINGS } from './lockout-warnings.js';

export interface LockoutFinding {
  /**
   * error: somebody is locked out, or a rule does nothing; warning: probably not what was meant;
   * notice: meant, and older clients do not understand it.
   */
  readonly severity: 'error' | 'warning' | 'notice';
  readonly code: string;
  readonly message: string;
}

/**
 * What this policy does that its operator may not have meant or weighed, errors first. None of it stops the
 * start: a server whose required provider cannot be connected yet still runs, and refuses.
 */
export function findLockouts(facts: AccessPolicyFacts): LockoutFinding[] {
  return [
    ...found('error', LOCKOUT_ERRORS, facts),
    ...found('warning', LOCKOUT_WARNINGS, facts),
    ...found('notice', LOCKOUT_NOTICES, facts),
  ];
}

function found(
  severity: LockoutFinding['severity'],
  rules: readonly LockoutRule[],
  facts: AccessPolicyFacts,
): LockoutFinding[] {
  return rules.flatMap(({ code, find }) =>
    find(facts).map((message) => ({ severity, code, message })),
  );
}
