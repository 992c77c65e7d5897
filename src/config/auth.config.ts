import { hasMembershipRules, type ProviderRules } from '../policy/eligibility/provider-rules.js';
import type { Values } from './environment/env.js';
import { namespaceOf, PROVIDER_LIST, type Variable, variablesOf } from './environment/variable.js';

const login = variablesOf('Sign-up and login');
const offboarding = variablesOf('Offboarding');

/** Sign-up, login and offboarding (specification, Policy variables). */
export const AUTH_VARIABLES = {
  AUTH_ANONYMOUS_SIGNUP_ENABLED: login(
    { type: 'boolean', default: true },
    'Lets anyone who reaches the server create an account with a new device key.',
  ),
  AUTH_SIGNUP_INVITATIONS_ENABLED: login(
    { type: 'boolean', default: false },
    'Lets a new device key sign up with an invitation (gatehouse invite create) while anonymous sign-up is off.',
  ),
  AUTH_SIGNUP_PROVIDERS: login(
    PROVIDER_LIST,
    'Identity providers through which a keyed account can be created. Empty = none.',
  ),
  AUTH_REQUIRED_LOGIN_PROVIDERS: login(
    PROVIDER_LIST,
    'Identities an account must have, and stay eligible for, to be served. Empty = none.',
  ),
  AUTH_KEY_CHALLENGE_ENABLED: login(
    { type: 'boolean', default: true },
    'Offers login with a device key.',
  ),
  AUTH_REQUIRE_SERVER_CHALLENGE: login(
    { type: 'boolean', default: true },
    'Accepts only a live challenge of this server, once. With false, one that the client made passes too, as older clients send: a captured login can then be sent again.',
  ),
  SERVICE_LOGIN_ORIGINS: login(
    {
      type: 'csv',
      default: [],
      pattern: /^https?:\/\/[^/?#\s@]+$/,
      shape: 'an origin such as https://gate.example.com (no path)',
      lowerCase: true,
    },
    'Origins besides that of SERVICE_PUBLIC_URL at which clients reach this server. They stand in its challenges: a client refuses one that does not name the origin it uses.',
  ),
  AUTH_LOOPBACK_RETURN_ENABLED: login(
    { type: 'boolean', default: true },
    'Lets logins through a provider return to a program on the computer of the browser (http://127.0.0.1), after a page has asked. The command line needs it.',
  ),
  AUTH_TOKEN_TTL_SECONDS: login(
    { type: 'integer', default: 2_592_000, min: 60, max: 31_536_000 },
    'Lifetime of an access token. The default is 30 days.',
  ),
  AUTH_FRESH_LOGIN_SECONDS: login(
    { type: 'integer', default: 900, min: 0, max: 86_400 },
    'Deleting the account, linking and unlinking, approving a device and changing the encryption mode need a login this recent. 0 = any live session does.',
  ),
  AUTH_ACCESS_CACHE_SECONDS: login(
    { type: 'integer', default: 5, min: 0, max: 60 },
    'How long the access facts of an account may be served from memory when no invalidation arrives.',
  ),
  AUTH_OFFBOARDING_ENABLED: offboarding(
    {
      type: 'boolean',
      default: null,
      defaultDoc:
        'true with an organisation allowlist, OpenID Connect allow rules or client certificates, else false',
    },
    'Re-checks the eligibility of linked identities periodically.',
  ),
  AUTH_OFFBOARDING_INTERVAL_SECONDS: offboarding(
    { type: 'integer', default: 86_400, min: 60, max: 86_400, clamp: true },
    'Time between two checks of one identity; clamped to 60..86400.',
  ),
  AUTH_OFFBOARDING_STRICT: offboarding(
    { type: 'boolean', default: false },
    'Refuses an identity that could not be re-checked for a whole interval because its provider is down.',
  ),
  AUTH_OFFBOARDING_CONCURRENCY: offboarding(
    { type: 'integer', default: 10, min: 1, max: 200 },
    'Re-checks that this process has under way at one provider at a time.',
  ),
  AUTH_OFFBOARDING_CHECKS_PER_SECOND: offboarding(
    { type: 'integer', default: 50, min: 0, max: 10_000 },
    'Re-checks a second that this process begins at one provider. 0 = as many as the requests that it sends there: 50 a second, to GitHub 15.',
  ),
} as const satisfies Record<string, Variable>;

export const authConfig = namespaceOf('auth', ({ values, providers }) => ({
  anonymousSignupEnabled: values.AUTH_ANONYMOUS_SIGNUP_ENABLED,
  signupInvitationsEnabled: values.AUTH_SIGNUP_INVITATIONS_ENABLED,
  signupProviders: values.AUTH_SIGNUP_PROVIDERS,
  requiredLoginProviders: values.AUTH_REQUIRED_LOGIN_PROVIDERS,
  keyChallengeEnabled: values.AUTH_KEY_CHALLENGE_ENABLED,
  requireServerChallenge: values.AUTH_REQUIRE_SERVER_CHALLENGE,
  /** Origins at which clients reach this server, for its challenges. Empty = not known. */
  loginOrigins: loginOrigins(values),
  tokenTtlSeconds: values.AUTH_TOKEN_TTL_SECONDS,
  /** 0 = any live session counts as fresh. */
  freshLoginMs: values.AUTH_FRESH_LOGIN_SECONDS * 1000,
  accessCacheMs: values.AUTH_ACCESS_CACHE_SECONDS * 1000,
  offboarding: {
    enabled: values.AUTH_OFFBOARDING_ENABLED ?? hasSomethingToRecheck(values, providers),
    intervalSeconds: values.AUTH_OFFBOARDING_INTERVAL_SECONDS,
    strict: values.AUTH_OFFBOARDING_STRICT,
    concurrency: values.AUTH_OFFBOARDING_CONCURRENCY,
    checksPerSecond: values.AUTH_OFFBOARDING_CHECKS_PER_SECOND,
  },
}));

/** Memberships end, and certificates expire and are revoked. */
function hasSomethingToRecheck(values: Values, providers: readonly ProviderRules[]): boolean {
  return providers.some(hasMembershipRules) || values.SERVICE_FEATURE_AUTH_MTLS__ENABLED;
}

/** The origins in this server's challenges: of SERVICE_PUBLIC_URL first. Call it on valid values. */
export function loginOrigins(values: Values): string[] {
  const addresses = [values.SERVICE_PUBLIC_URL ?? [], values.SERVICE_LOGIN_ORIGINS].flat();
  return [...new Set(addresses.map((address) => new URL(address).origin))];
}
