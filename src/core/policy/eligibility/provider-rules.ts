import type { EligibilityRules } from './eligibility.js';

interface ProviderPresentation {
  readonly id: string;
  readonly displayName: string;
  /** True if its callback at this server and the return address of browsers are known. */
  readonly isOAuthConfigured: boolean;
  readonly ui: { readonly iconHint: string | null; readonly buttonColor: string | null };
}

export interface GitHubRules extends ProviderPresentation {
  readonly type: 'github';
  readonly allowedUsers: readonly string[];
  readonly allowedOrgs: readonly string[];
  readonly orgMatch: 'any' | 'all';
  /**
   * False if memberships are read with tokens of people for a GitHub App: they show no scopes, so a
   * 404 may mean that they see no members.
   */
  readonly confirmsRemovals: boolean;
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
  /** The condition for an e-mail address to count: a verified claim, or this issuer's word. */
  readonly emailVerification: 'required' | 'trustedIssuer';
  readonly storeRefreshToken: boolean;
  readonly scopes: readonly string[];
  /** `graph`: groups that do not fit into the token are read from Microsoft Graph. */
  readonly entra: { readonly graph: boolean };
  /** Where set, re-checks ask the directory of Google Workspace, and need no token of the person. */
  readonly googleWorkspaceGroups: object | null;
  /** The directory that reports the people of this provider (SCIM); null = none. */
  readonly scim: DirectoryRules | null;
}

export interface DirectoryRules {
  /** The fact of an identity that names a person; `oid`: object id of Microsoft Entra ID. */
  readonly match: 'externalId' | 'oid' | 'userName' | 'email';
  /** True if the directory has to show a person as active. */
  readonly required: boolean;
}

/** The operator's settings for the identities of one provider. */
export type ProviderRules = GitHubRules | OidcRules;

/** The properties of a provider that depend on its kind. All code reads them here. */
interface ProviderCapabilities {
  /** The rules that an identity of the provider must meet. */
  readonly rules: EligibilityRules;
  /** True if there is an organisation allowlist, or an allow rule of OpenID Connect. */
  readonly hasMembershipRules: boolean;
  /** True if the rules are in a file that is read again while the server runs. */
  readonly hasRulesFile: boolean;
  /** Without the user, OpenID Connect needs a refresh token, and Google Workspace a service account. */
  readonly isRecheckable: boolean;
  readonly storesRefreshToken: boolean;
  /** True if the request asks for refresh tokens, where re-checks need them (Core 1.0, 11). */
  readonly asksForRefreshTokens: boolean;
  /** False if groups of the rules are read from Microsoft Graph without one of its permissions. */
  readonly asksForGroups: boolean;
  /** True if a member who was removed from the rules' organisations is found. */
  readonly findsRemovals: boolean;
  /** The claim whose value people may choose themselves as their login; null = none. */
  readonly chosenLogin: string | null;
  /** The facts that the provider reports. */
  readonly reports: 'organizations' | 'email and groups';
  /** Returns true if an e-mail address counts that the provider verified, or did not. */
  readonly believesEmail: (isVerified: boolean) => boolean;
}

export function capabilitiesOf(provider: ProviderRules): ProviderCapabilities {
  switch (provider.type) {
    case 'github':
      return gitHubCapabilities(provider);
    case 'oidc':
      return oidcCapabilities(provider);
  }
}

function gitHubCapabilities(provider: GitHubRules): ProviderCapabilities {
  const { allowedUsers: users, allowedOrgs: orgs, orgMatch } = provider;
  const unused = { emailDomains: [], groupsAny: [], groupsAll: [] };
  return {
    // A login of digits only would match the numeric id of another person.
    rules: { users, matchSubjects: false, ...unused, orgs, orgMatch },
    hasMembershipRules: orgs.length > 0,
    hasRulesFile: false,
    isRecheckable: true,
    storesRefreshToken: false,
    asksForRefreshTokens: true,
    asksForGroups: true,
    findsRemovals: provider.confirmsRemovals || orgs.length === 0,
    // A login of GitHub belongs to one account.
    chosenLogin: null,
    reports: 'organizations',
    believesEmail: () => false,
  };
}

/** A permission such as `GroupMember.Read.All`, also with the address of Microsoft Graph before it. */
const GRAPH_PERMISSION = /\.(read|readwrite|default)\b/i;

function oidcCapabilities(provider: OidcRules): ProviderCapabilities {
  const { claims, scopes, storeRefreshToken: storesRefreshToken } = provider;
  const { usersAllowlist: users, ...allow } = provider.allow;
  const hasDirectory = provider.googleWorkspaceGroups !== null;
  const readsGraph = provider.entra.graph && allow.groupsAny.length + allow.groupsAll.length > 0;
  return {
    rules: { users, matchSubjects: true, ...allow, orgs: [], orgMatch: 'any' },
    hasMembershipRules: hasAllowRules(provider.allow),
    hasRulesFile: true,
    isRecheckable: storesRefreshToken || hasDirectory,
    storesRefreshToken,
    asksForRefreshTokens: !storesRefreshToken || hasDirectory || scopes.includes('offline_access'),
    asksForGroups: !readsGraph || scopes.some((scope) => GRAPH_PERMISSION.test(scope)),
    findsRemovals: true,
    chosenLogin: claims.login === 'sub' ? null : claims.login,
    reports: 'email and groups',
    believesEmail: (isVerified) => believesEmail(provider, isVerified),
  };
}

export function isRestricted(provider: ProviderRules): boolean {
  const { hasMembershipRules, rules } = capabilitiesOf(provider);
  return hasMembershipRules || rules.users.length > 0;
}

export function requiresDirectory(provider: ProviderRules): boolean {
  return provider.type === 'oidc' && provider.scim?.required === true;
}

/** Returns true if one of the allow rules of an OpenID Connect provider restricts who is eligible. */
export function hasAllowRules(allow: OidcRules['allow']): boolean {
  return Object.values(allow).some((rule) => rule.length > 0);
}

/**
 * `email_verified` vouches for the claim `email` alone (OpenID Connect Core 1.0, 5.1).
 * @param isVerified `email_verified` of the same response
 */
export function believesEmail(
  { claims, emailVerification }: Pick<OidcRules, 'claims' | 'emailVerification'>,
  isVerified: boolean,
): boolean {
  return emailVerification === 'trustedIssuer' || (claims.email === 'email' && isVerified);
}
