import type { OperatorPolicy } from '../operator-policy.js';
import { holds, type Condition } from './condition.js';

const KEYED = 'AUTH_KEY_CHALLENGE_ENABLED';
const REQUIRED = 'AUTH_REQUIRED_LOGIN_PROVIDERS';
const STORAGE = 'SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY';
const ACCOUNTS = 'SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED';
const OAUTH = 'SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_ENABLED';
const OAUTH_PROVIDERS = 'SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS';
const MTLS = 'SERVICE_FEATURE_AUTH_MTLS__ENABLED';
const MODE = 'SERVICE_FEATURE_AUTH_MTLS__MODE';
const TRUSTS = 'SERVICE_FEATURE_AUTH_MTLS__TRUST_FORWARDED_HEADERS';
const PROXIES = 'SERVICE_FEATURE_AUTH_MTLS__TRUSTED_PROXIES';

const SETTINGS = {
  [KEYED]: ({ auth }: OperatorPolicy) => auth.keyChallengeEnabled,
  [REQUIRED]: ({ auth }: OperatorPolicy) => auth.requiredLoginProviders,
  [STORAGE]: ({ encryption }: OperatorPolicy) => encryption.storagePolicy,
  [ACCOUNTS]: ({ keyless }: OperatorPolicy) => keyless.accountsEnabled,
  [OAUTH]: ({ keyless }: OperatorPolicy) => keyless.oauth.enabled,
  [OAUTH_PROVIDERS]: ({ keyless }: OperatorPolicy) => keyless.oauth.providers,
  [MTLS]: ({ mtls }: OperatorPolicy) => mtls.enabled,
  [MODE]: ({ mtls }: OperatorPolicy) => mtls.mode,
  [TRUSTS]: ({ mtls }: OperatorPolicy) => mtls.trustForwardedHeaders,
  [PROXIES]: ({ mtls }: OperatorPolicy) => mtls.trustedProxies,
};

type Name = keyof typeof SETTINGS;

interface PolicyConflict {
  readonly variable: Name;
  readonly when: Condition<Name>;
}

const KEYLESS: Condition<Name> = {
  all: [{ on: ACCOUNTS }, { not: { is: [STORAGE, 'required_e2ee'] } }],
};
const REACHABLE: Condition<Name> = {
  any: [{ is: [MODE, 'direct'] }, { all: [{ on: TRUSTS }, { set: PROXIES }] }],
};

/** Users are locked out, or an enabled feature has no effect. The chart refuses them, too. */
export const POLICY_CONFLICTS = {
  'no-login-method': {
    variable: KEYED,
    when: {
      all: [
        { not: { on: KEYED } },
        { not: { all: [KEYLESS, { on: OAUTH }, { usable: OAUTH_PROVIDERS }] } },
        { not: { all: [KEYLESS, { on: MTLS }, REACHABLE] } },
      ],
    },
  },
  'keyless-accounts-need-plaintext': {
    variable: ACCOUNTS,
    when: { all: [{ on: ACCOUNTS }, { is: [STORAGE, 'required_e2ee'] }] },
  },
  'keyless-login-without-accounts': {
    variable: OAUTH,
    when: { all: [{ on: OAUTH }, { not: { on: ACCOUNTS } }] },
  },
  'plaintext-only-without-keyless': {
    variable: STORAGE,
    when: { all: [{ is: [STORAGE, 'plaintext_only'] }, { not: { on: ACCOUNTS } }] },
  },
  'mtls-without-keyless': {
    variable: MTLS,
    when: { all: [{ on: MTLS }, { not: KEYLESS }, { not: { lists: [REQUIRED, 'mtls'] } }] },
  },
  'mtls-unreachable': {
    variable: TRUSTS,
    when: { all: [{ on: MTLS }, { not: REACHABLE }] },
  },
} as const satisfies Readonly<Record<string, PolicyConflict>>;

export function isConflict({ when }: PolicyConflict, policy: OperatorPolicy): boolean {
  const usable = policy.providers.filter(({ isOAuthConfigured }) => isOAuthConfigured);
  return holds(when, {
    valueOf: (name: Name) => SETTINGS[name](policy),
    providers: usable.map(({ id }) => id),
  });
}
