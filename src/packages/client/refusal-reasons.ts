/**
 * Reasons why a provider does not confirm a person, by `eligibility.reason` of the profile and `reason` of a return
 * address. `{provider}` stands for the name of the provider.
 */
export const REFUSAL_REASONS = {
  user_not_allowed: 'Your identity at {provider} is not on the list of people with access.',
  email_unverified: 'Your e-mail address at {provider} is not verified.',
  email_domain_not_allowed: 'The domain of your e-mail address at {provider} has no access.',
  groups_unavailable: '{provider} does not say which groups you are in.',
  group_missing: 'You are in none of the groups at {provider} that have access.',
  organization_membership_pending: 'You have not accepted the invitation to the organisation.',
  organization_membership_missing: 'You are not in an organisation that has access.',
  directory_inactive: 'The directory of {provider} has deactivated you.',
  directory_missing: 'You are not in the directory of {provider}.',
  signal_disabled: '{provider} reports that your account there is disabled.',
  account_not_found: '{provider} does not know your account there any more.',
  account_suspended: 'Your account at {provider} is suspended.',
  invalid_grant: '{provider} has ended your sign-in there.',
  token_revoked: 'The permission that you gave at {provider} was revoked.',
  revoked: 'Your certificate was revoked.',
  expired: 'Your certificate has expired.',
  not_trusted: 'This server does not trust your certificate any more.',
} as const;

export type RefusalReason = keyof typeof REFUSAL_REASONS;

/** Returns false for the reasons of newer servers, which have no text here. */
export function isRefusalReason(reason: string | null | undefined): reason is RefusalReason {
  return typeof reason === 'string' && Object.hasOwn(REFUSAL_REASONS, reason);
}

/** Describes the reason in a sentence; null for one without a text. */
export function refusalReasonMessage(reason: string | null, provider: string): string | null {
  return isRefusalReason(reason)
    ? REFUSAL_REASONS[reason].replace('{provider}', () => provider)
    : null;
}
