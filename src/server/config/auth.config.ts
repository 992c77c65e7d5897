import { keylessLogins } from '../../core/policy/admission/admission.js';
import type { ResourceServerRules } from '../../core/policy/admission/resource-server.js';
import { revocationBoundMs } from '../../core/policy/admission/revocation.js';
import {
  capabilitiesOf,
  requiresDirectory,
  type ProviderRules,
} from '../../core/policy/eligibility/provider-rules.js';
import { fitsLoginChallenge } from '../../core/protocol/login-challenge.js';
import type { ConfigurationReport } from './environment/configuration-error.js';
import { PROVIDER_LIST, namespaceOf, variablesOf, type ValuesOf } from './environment/variable.js';
import { encryptionConfig, type ENCRYPTION_VARIABLES } from './encryption.config.js';
import { ownOrigins, type HTTP_VARIABLES } from './http.config.js';
import { keylessConfig, type KEYLESS_VARIABLES } from './keyless.config.js';
import { mtlsConfig, type MtlsInput } from './mtls.config.js';

const login = variablesOf('Sign-up and login');
const offboarding = variablesOf('Offboarding');

export const AUTH_VARIABLES = {
  AUTH_ANONYMOUS_SIGNUP_ENABLED: login.onByDefault(
    'Lets any client create an account with a new device key.',
  ),
  AUTH_SIGNUP_INVITATIONS_ENABLED: login.offByDefault(
    'Lets a new device key sign up with an invitation (gatehouse invite create) if anonymous sign-up is off.',
  ),
  AUTH_SIGNUP_PROVIDERS: login(
    PROVIDER_LIST,
    'Identity providers through which a keyed account can be created. Empty = none.',
  ),
  AUTH_REQUIRED_LOGIN_PROVIDERS: login(
    PROVIDER_LIST,
    'Providers with which each account must be connected and eligible. Empty = none.',
  ),
  AUTH_KEY_CHALLENGE_ENABLED: login.onByDefault('Offers login with a device key.'),
  AUTH_REQUIRE_SERVER_CHALLENGE: login.onByDefault(
    'Accepts only a live challenge of this server, once. false also accepts challenges that older clients make. A captured login can then be sent again.',
  ),
  SERVICE_LOGIN_ORIGINS: login(
    {
      type: 'csv',
      default: [],
      pattern: /^https?:\/\/[^/?#\s@]+$/,
      shape: 'an origin such as https://gate.example.com (no path)',
      lowerCase: true,
    },
    'Further origins at which clients reach this server, listed in its challenges. A client refuses a challenge that does not list the origin it uses.',
  ),
  AUTH_LOOPBACK_RETURN_ENABLED: login.onByDefault(
    'Lets logins through a provider return to a program on the same computer (http://127.0.0.1), after a page has asked. The command line needs it.',
  ),
  AUTH_TOKEN_TTL_SECONDS: login(
    { type: 'integer', default: 2_592_000, min: 60, max: 31_536_000 },
    'Lifetime of an access token. The default is 30 days.',
  ),
  AUTH_FRESH_LOGIN_SECONDS: login(
    { type: 'integer', default: 900, min: 0, max: 86_400 },
    'Largest age of the login for deleting the account, linking, unlinking, approving a device and changing the encryption mode. 0 = any age.',
  ),
  AUTH_ACCESS_CACHE_SECONDS: login(
    { type: 'integer', default: 5, min: 0, max: 60 },
    'Longest time that access of an account is read from memory if no invalidation arrives.',
  ),
  AUTH_OFFBOARDING_ENABLED: offboarding(
    {
      type: 'boolean',
      default: null,
      defaultDoc:
        'true with GitHub organisations, OpenID Connect allow rules or client certificates, else false',
    },
    'Re-checks the eligibility of linked identities periodically.',
  ),
  AUTH_OFFBOARDING_INTERVAL_SECONDS: offboarding(
    { type: 'integer', default: 86_400, min: 60, max: 86_400, clamp: true },
    'Time between two checks of one identity. Other values become 60 or 86400.',
  ),
  AUTH_OFFBOARDING_STRICT: offboarding.offByDefault(
    'Refuses an identity whose provider did not answer for a whole interval.',
  ),
  AUTH_OFFBOARDING_CONCURRENCY: offboarding(
    { type: 'integer', default: 10, min: 1, max: 200 },
    'Most simultaneous re-checks of this process at one provider.',
  ),
  AUTH_OFFBOARDING_CHECKS_PER_SECOND: offboarding(
    { type: 'integer', default: 50, min: 0, max: 10_000 },
    'Re-checks that this process starts per second at one provider. 0 = the limit of requests: 50, or 15 at GitHub.',
  ),
};

type LoginValues = ValuesOf<typeof AUTH_VARIABLES & typeof HTTP_VARIABLES>;

interface AuthInput extends MtlsInput {
  readonly values: LoginValues &
    MtlsInput['values'] &
    ValuesOf<typeof ENCRYPTION_VARIABLES & typeof KEYLESS_VARIABLES>;
  readonly providers: readonly ProviderRules[];
  readonly resourceServers: readonly ResourceServerRules[];
}

export const authConfig = namespaceOf(
  'auth',
  ({ values, providers, certificateRules, resourceServers }: AuthInput) => ({
    anonymousSignupEnabled: values.AUTH_ANONYMOUS_SIGNUP_ENABLED,
    signupInvitationsEnabled: values.AUTH_SIGNUP_INVITATIONS_ENABLED,
    signupProviders: values.AUTH_SIGNUP_PROVIDERS,
    requiredLoginProviders: values.AUTH_REQUIRED_LOGIN_PROVIDERS,
    /** True if a decision depends on the identities of accounts with a device key. */
    requiresIdentities:
      values.AUTH_REQUIRED_LOGIN_PROVIDERS.length > 0 ||
      resourceServers.some(({ requireProviders }) => requireProviders.length > 0),
    keyChallengeEnabled: values.AUTH_KEY_CHALLENGE_ENABLED,
    requireServerChallenge: values.AUTH_REQUIRE_SERVER_CHALLENGE,
    /** Origins at which clients reach this server, for its challenges. Empty = unknown. */
    loginOrigins: ownOrigins(values),
    tokenTtlSeconds: values.AUTH_TOKEN_TTL_SECONDS,
    /** 0 = any live session counts as fresh. */
    freshLoginMs: values.AUTH_FRESH_LOGIN_SECONDS * 1000,
    accessCacheMs: values.AUTH_ACCESS_CACHE_SECONDS * 1000,
    /** Live connections receive nothing once their last check is so old. */
    revocationBoundMs: revocationBoundMs(values.AUTH_ACCESS_CACHE_SECONDS * 1000),
    offboarding: {
      enabled: values.AUTH_OFFBOARDING_ENABLED ?? hasSomethingToRecheck({ values, providers }),
      intervalSeconds: values.AUTH_OFFBOARDING_INTERVAL_SECONDS,
      strict: values.AUTH_OFFBOARDING_STRICT,
      concurrency: values.AUTH_OFFBOARDING_CONCURRENCY,
      checksPerSecond: values.AUTH_OFFBOARDING_CHECKS_PER_SECOND,
      directories: providers.filter(requiresDirectory).map(({ id }) => id),
      keylessLogins: keylessLogins({
        encryption: encryptionConfig({ values }),
        keyless: keylessConfig({ values }),
        mtls: mtlsConfig({ values, certificateRules }),
        providers,
      }),
    },
  }),
);

export type AuthSettings = ReturnType<typeof authConfig>;

/** Returns true if memberships can end, or certificates can expire or be revoked. */
function hasSomethingToRecheck({
  values,
  providers,
}: Pick<AuthInput, 'values' | 'providers'>): boolean {
  return (
    providers.some((one) => capabilitiesOf(one).hasMembershipRules) ||
    values.SERVICE_FEATURE_AUTH_MTLS__ENABLED
  );
}

/** Reports origins that no client can have, and more origins than fit into a challenge. */
export function checkLoginOrigins(values: LoginValues, report: ConfigurationReport): void {
  const name = 'SERVICE_LOGIN_ORIGINS';
  if (report.has(name)) {
    return;
  }
  const wrong = values[name].filter((origin) => !isOrigin(origin));
  if (wrong.length > 0) {
    report.problem(name, `must not name ${wrong.join(', ')}, which is not an origin.`);
  } else if (!report.has('SERVICE_PUBLIC_URL') && !fitsLoginChallenge(ownOrigins(values))) {
    report.problem(name, 'is too long: with SERVICE_PUBLIC_URL, about 900 characters fit.');
  }
}

function isOrigin(text: string): boolean {
  const isAddress = URL.canParse(text) && new URL(text).href === `${new URL(text).origin}/`;
  return isAddress && !text.includes('*');
}
