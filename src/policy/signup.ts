export interface SignupFacts {
  readonly anonymousSignupEnabled: boolean;
  /** Whether the device key already belongs to an account. */
  readonly accountExists: boolean;
}

export type SignupDecision =
  { readonly allowed: true } | { readonly allowed: false; readonly code: 'signup-disabled' };

/**
 * Whether a device key may log in or sign up at `POST /v1/auth` (specification, Policy variables):
 * a known key always may, a new one only while anonymous sign-up is on.
 */
export function judgeSignup(facts: SignupFacts): SignupDecision {
  if (facts.accountExists || facts.anonymousSignupEnabled) {
    return { allowed: true };
  }
  return { allowed: false, code: 'signup-disabled' };
}
