import type { EligibilityRules } from './eligibility.js';

/** What clients show of a provider, whatever its protocol. */
export interface ProviderPresentation {
  readonly id: string;
  readonly displayName: string;
  /** Whether its callback at this server and the address that browsers return to are known. */
  readonly isOAuthConfigured: boolean;
  readonly ui: { readonly iconHint: string | null; readonly buttonColor: string | null };
}

export interface GitHubRules extends ProviderPresentation {
  readonly type: 'github';
  readonly allowedUsers: readonly string[];
  readonly allowedOrgs: readonly string[];
  readonly orgMatch: 'any' | 'all';
}

export interface OidcRules extends ProviderPresentation {
  readonly type: 'oidc';
  readonly claims: { readonly login: string; readonly email: string; readonly groups: string };
  readonly allow: {
    readonly usersAllowlist: readonly string[];
    readonly emailDomains: readonly string[];
    readonly groupsAny: readonly string[];
    readonly groupsAll: readonly string[];
  };
  /** What makes an e-mail address count: a verified claim, or that this issuer says so. */
  readonly emailVerification: 'required' | 'trustedIssuer';
  readonly storeRefreshToken: boolean;
  /** Where set, re-checks ask the directory of Google Workspace, and need no token of the person. */
  readonly googleWorkspaceGroups: object | null;
}

/** The operator's decisions about the identities of one provider. */
export type ProviderRules = GitHubRules | OidcRules;

/** The rules that an identity of the provider must meet. */
export function eligibilityRulesOf(provider: ProviderRules): EligibilityRules {
  switch (provider.type) {
    case 'github':
      return {
        users: provider.allowedUsers,
        // A login of digits only would match the numeric id of another person.
        matchSubjects: false,
        emailDomains: [],
        groupsAny: [],
        groupsAll: [],
        orgs: provider.allowedOrgs,
        orgMatch: provider.orgMatch,
      };
    case 'oidc': {
      const { usersAllowlist: users, ...allow } = provider.allow;
      return { users, matchSubjects: true, ...allow, orgs: [], orgMatch: 'any' };
    }
  }
}

/** Whether an allowlist narrows which identities of the provider are eligible. */
export function isRestricted(provider: ProviderRules): boolean {
  return hasMembershipRules(provider) || eligibilityRulesOf(provider).users.length > 0;
}

/** Whether there are membership rules: an organisation allowlist or OpenID Connect allow rules. */
export function hasMembershipRules(provider: ProviderRules): boolean {
  return provider.type === 'github'
    ? provider.allowedOrgs.length > 0
    : hasAllowRules(provider.allow);
}

/** Whether one of the allow rules of an OpenID Connect provider restricts who is eligible. */
export function hasAllowRules(allow: OidcRules['allow']): boolean {
  return Object.values(allow).some((rule) => rule.length > 0);
}

/**
 * Without the user, an OpenID Connect provider can be queried only with a refresh token, and Google
 * Workspace by a service account.
 */
export function isRecheckable(provider: ProviderRules): boolean {
  return (
    provider.type === 'github' ||
    provider.storeRefreshToken ||
    provider.googleWorkspaceGroups !== null
  );
}

/**
 * Whether an e-mail address of the provider counts: `email_verified` vouches for the claim
 * `email` alone (OpenID Connect Core 1.0, 5.1).
 *
 * @param isVerified the value of `email_verified` beside the address
 */
export function believesEmail(
  { claims, emailVerification }: Pick<OidcRules, 'claims' | 'emailVerification'>,
  isVerified: boolean,
): boolean {
  return emailVerification === 'trustedIssuer' || (claims.email === 'email' && isVerified);
}
