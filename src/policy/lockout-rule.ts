import type { AccessPolicyFacts } from './access-facts.js';

export interface LockoutRule {
  readonly code: string;
  /** The messages to give; empty = the rule finds nothing. */
  readonly find: (facts: AccessPolicyFacts) => readonly string[];
}

/** The ids that no provider is configured for; `mtls` has rules of its own. */
export function notConfigured(facts: AccessPolicyFacts, ids: readonly string[]): string[] {
  return ids.filter((id) => id !== 'mtls' && !facts.configuredProviders.includes(id));
}

/** The message of a rule that has at most one. */
export function when(found: boolean, message: string): readonly string[] {
  return found ? [message] : [];
}
