import { isIP } from 'node:net';
import type { AccessPolicyFacts, UserList } from '../policy/access-facts.js';
import { isLoopbackHost } from '../policy/return-address.js';
import { isEveryAddress } from './address-range.js';
import type { MtlsSettings, ProviderSettings, Settings } from './settings.js';

/** What the rules about lockouts and the sentences about the policy need to know of the settings. */
export function policyFacts(settings: Settings): AccessPolicyFacts {
  const { auth, encryption, keyless, mtls, providers, ui } = settings;
  const restricted = providers.filter(isRestricted);
  return {
    anonymousSignupEnabled: auth.anonymousSignupEnabled,
    signupProviders: auth.signupProviders,
    requiredLoginProviders: auth.requiredLoginProviders,
    configuredProviders: idsOf(providers),
    restrictedProviders: idsOf(restricted),
    uncheckableProviders: idsOf(restricted.filter((provider) => !isCheckable(provider))),
    userLists: providers.map(userListOf),
    keyChallengeEnabled: auth.keyChallengeEnabled,
    requireServerChallenge: auth.requireServerChallenge,
    storagePolicy: encryption.storagePolicy,
    allowAccountOptOut: encryption.allowAccountOptOut,
    keylessAccountsEnabled: keyless.accountsEnabled,
    keylessOauth: keyless.oauth,
    mtls: {
      enabled: mtls.enabled,
      autoProvision: mtls.autoProvision,
      reachable: isMtlsReachable(mtls),
    },
    offboarding: auth.offboarding,
    autoRedirectProviderId: ui.autoRedirect.enabled ? ui.autoRedirect.providerId : null,
    plainContentSealed:
      encryption.plainAccountSettingsAtRest === 'server_sealed' &&
      encryption.plainAccountCredentialsAtRest === 'server_sealed',
    publiclyAddressed: isPublicAddress(settings.http.publicUrl),
    everyPeerTrusted: [...settings.http.trustedProxies, ...mtls.trustedProxies].some(
      isEveryAddress,
    ),
  };
}

function idsOf(providers: readonly ProviderSettings[]): string[] {
  return providers.map(({ id }) => id);
}

function isRestricted(provider: ProviderSettings): boolean {
  return provider.type === 'github'
    ? provider.allowedUsers.length > 0 || provider.allowedOrgs.length > 0
    : Object.values(provider.allow).some((rule) => rule.length > 0);
}

function userListOf(provider: ProviderSettings): UserList {
  if (provider.type === 'github') {
    const { id, allowedUsers: users } = provider;
    const place = 'AUTH_GITHUB_ALLOWED_USERS';
    // GitHub gives each login to one account, and is asked for no e-mail address.
    const none = { choosableLogin: null, emailsCount: false, asksForDomains: false };
    return { provider: id, place, users, ...none };
  }
  const { id, allow, claims, emailVerification } = provider;
  return {
    provider: id,
    place: `allow.usersAllowlist of ${id}`,
    users: allow.usersAllowlist,
    choosableLogin: claims.login === 'sub' ? null : claims.login,
    emailsCount: claims.email === 'email' || emailVerification === 'trustedIssuer',
    asksForDomains: allow.emailDomains.length > 0,
  };
}

/** Without the user being there, an OpenID Connect provider answers only to a refresh token. */
function isCheckable(provider: ProviderSettings): boolean {
  return provider.type === 'github' || provider.storeRefreshToken;
}

/** Whether there is anybody who could show a certificate: a port of our own, or a believed proxy. */
export function isMtlsReachable(mtls: MtlsSettings): boolean {
  return mtls.mode === 'direct' || (mtls.trustForwardedHeaders && mtls.trustedProxies.length > 0);
}

/** Judged by the name alone: a full domain name that no private network uses, or a public address. */
function isPublicAddress(publicUrl: string | null): boolean {
  const host = publicUrl === null ? '' : new URL(publicUrl).hostname;
  if (host === '' || isLoopbackHost(host)) {
    return false;
  }
  if (isIP(host) === 4) {
    return !/^(10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/.test(
      host,
    );
  }
  if (host.startsWith('[')) {
    return !/^\[f[cde]/i.test(host);
  }
  return (
    host.includes('.') &&
    !/\.(local|localhost|internal|lan|home|arpa|test|corp|ts\.net)$/.test(host)
  );
}
