import type {
  GitHubProviderSettings,
  OidcProviderSettings,
} from '../../src/config/providers.config.js';
import type {
  AuthorizationRequest,
  RecheckSubject,
} from '../../src/providers/identity-provider.js';
import {
  DEFAULT_UPSTREAM_LIMITS,
  type UpstreamLimits,
} from '../../src/providers/http/upstream-http.js';
import { UpstreamConnections } from '../../src/providers/http/upstream-connections.js';
import { CLIENT } from './openid-provider.js';

export const REDIRECT_URI = 'https://gatehouse.example/v1/oauth/provider/callback';

/** No proxy, and the certificate authorities of Node.js. */
export const DIRECT = new UpstreamConnections({
  ...{ caBundle: null, httpProxy: null, httpsProxy: null, noProxy: [] },
});

/** No provider that answers is too slow. */
export const PATIENT_LIMITS: UpstreamLimits = { ...DEFAULT_UPSTREAM_LIMITS, timeoutMs: 120_000 };

/** For providers that never answer. */
export const HASTY_LIMITS: UpstreamLimits = { ...DEFAULT_UPSTREAM_LIMITS, timeoutMs: 200 };

export function oidcSettings(
  issuer: string,
  given: Partial<OidcProviderSettings> = {},
): OidcProviderSettings {
  return {
    type: 'oidc',
    id: 'corp',
    displayName: 'Corp',
    isOAuthConfigured: true,
    issuer,
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    clientSecretFile: null,
    clientKeyFile: null,
    clientAssertionFile: null,
    clientAssertionAudience: 'issuer',
    redirectUrl: REDIRECT_URI,
    scopes: ['openid', 'profile', 'email'],
    prompt: null,
    httpTimeoutSeconds: 120,
    claims: { login: 'preferred_username', email: 'email', groups: 'groups' },
    allow: { usersAllowlist: [], emailDomains: [], groupsAny: [], groupsAll: [] },
    fetchUserInfo: false,
    storeRefreshToken: true,
    emailVerification: 'required',
    formerIssuers: [],
    idTokenSigningAlg: null,
    logoutTokenType: 'any',
    entra: { graph: false, graphUrl: null },
    googleWorkspaceGroups: null,
    ui: { iconHint: null, buttonColor: null },
    ...given,
  };
}

export function gitHubSettings(
  url: string,
  given: Partial<GitHubProviderSettings> = {},
): GitHubProviderSettings {
  return {
    type: 'github',
    id: 'github',
    displayName: 'GitHub',
    isOAuthConfigured: true,
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    clientSecretFile: null,
    redirectUrl: REDIRECT_URI,
    baseUrl: url,
    apiUrl: `${url}/api/v3`,
    allowedUsers: [],
    allowedOrgs: ['acme'],
    orgMatch: 'any',
    orgMembershipSource: 'oauth_user_token',
    webhookSecret: null,
    webhookSecretFile: null,
    app: null,
    ui: { iconHint: 'github', buttonColor: null },
    ...given,
  };
}

export function authorizationRequest(): AuthorizationRequest {
  return {
    redirectUri: REDIRECT_URI,
    state: 'a-state-that-is-not-guessed',
    nonce: 'a-nonce-that-is-not-guessed',
    codeVerifier: 'a-verifier-that-is-at-least-forty-three-characters',
  };
}

/** A subject as the offboarding job hands it over, with what was saved. */
export function recheckSubject(
  given: Partial<RecheckSubject> & { readonly subject: string },
): RecheckSubject & { readonly saved: string[] } {
  const saved: string[] = [];
  return {
    login: null,
    credentials: null,
    saveCredentials: (credentials) => Promise.resolve(void saved.push(credentials)),
    ...given,
    saved,
  };
}
