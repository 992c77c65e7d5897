import type { OperatorPolicy } from '../../src/policy/operator-policy.js';
import type { GitHubRules, OidcRules } from '../../src/policy/eligibility/provider-rules.js';

/** Changes of some rules. */
export type PolicyChange = Omit<
  { readonly [Part in keyof OperatorPolicy]?: Partial<OperatorPolicy[Part]> },
  'providers'
> & { readonly providers?: OperatorPolicy['providers'] };

/** The policy of a server on which nothing is set. */
const DEFAULT: OperatorPolicy = {
  http: { publicUrl: null, trustedProxies: [] },
  auth: {
    anonymousSignupEnabled: true,
    signupInvitationsEnabled: false,
    signupProviders: [],
    requiredLoginProviders: [],
    keyChallengeEnabled: true,
    requireServerChallenge: true,
    offboarding: { enabled: false, intervalSeconds: 86_400, strict: false },
  },
  encryption: {
    storagePolicy: 'required_e2ee',
    defaultAccountMode: 'e2ee',
    allowAccountOptOut: false,
    plainAccountSettingsAtRest: 'server_sealed',
    plainAccountCredentialsAtRest: 'server_sealed',
  },
  keyless: {
    accountsEnabled: false,
    oauth: { enabled: false, providers: [], autoProvision: false },
  },
  mtls: {
    enabled: false,
    mode: 'forwarded',
    autoProvision: false,
    identitySource: 'san_email',
    trustForwardedHeaders: false,
    trustedProxies: [],
    allowedEmailDomains: [],
    allowedIssuers: [],
  },
  providers: [],
  ui: { autoRedirect: { enabled: false, providerId: null } },
};

/** The default policy with changes; a later one wins. */
export function policyWith(...changes: readonly PolicyChange[]): OperatorPolicy {
  return changes.reduce<OperatorPolicy>(
    (policy, change) => ({
      http: { ...policy.http, ...change.http },
      auth: { ...policy.auth, ...change.auth },
      encryption: { ...policy.encryption, ...change.encryption },
      keyless: { ...policy.keyless, ...change.keyless },
      mtls: { ...policy.mtls, ...change.mtls },
      providers: change.providers ?? policy.providers,
      ui: { ...policy.ui, ...change.ui },
    }),
    DEFAULT,
  );
}

/** A provider `okta` without rules, changed as given. */
export function okta({ allow, ...changes }: OidcChange = {}): OidcRules {
  return {
    type: 'oidc',
    id: 'okta',
    displayName: 'Acme Okta',
    isOAuthConfigured: true,
    ui: { iconHint: 'okta', buttonColor: '#111111' },
    claims: { login: 'preferred_username', email: 'email', groups: 'groups' },
    allow: { usersAllowlist: [], emailDomains: [], groupsAny: [], groupsAll: [], ...allow },
    emailVerification: 'required',
    storeRefreshToken: true,
    googleWorkspaceGroups: null,
    ...changes,
  };
}

type OidcChange = Partial<Omit<OidcRules, 'allow'>> & {
  readonly allow?: Partial<OidcRules['allow']>;
};

/** GitHub without rules. */
export const GITHUB: GitHubRules = {
  type: 'github',
  id: 'github',
  displayName: 'GitHub',
  isOAuthConfigured: true,
  ui: { iconHint: 'github', buttonColor: null },
  allowedUsers: [],
  allowedOrgs: [],
  orgMatch: 'any',
};
