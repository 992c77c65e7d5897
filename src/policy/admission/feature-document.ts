import {
  authMethods,
  isMtlsReachable,
  type AdmissionPolicy,
  type AuthMethod,
} from './auth-methods.js';
import type { OperatorPolicy } from '../operator-policy.js';

export type FeaturePolicy = AdmissionPolicy & Pick<OperatorPolicy, 'encryption' | 'ui'>;

/** The body of `GET /v1/features` (contract, Discovery). */
export interface FeatureDocument {
  readonly features: object;
  readonly capabilities: {
    readonly auth: { readonly methods: readonly AuthMethod[] } & Readonly<Record<string, unknown>>;
  } & Readonly<Record<string, unknown>>;
}

/**
 * What clients may know of this policy: what works, and nothing about what is misconfigured.
 *
 * @param keyedAccountsExist whether a `plaintext_only` server still has accounts with device keys
 * @param version of this program
 */
export function featureDocument(
  policy: FeaturePolicy,
  keyedAccountsExist: boolean,
  version: string,
): FeatureDocument {
  const { auth, encryption, providers } = policy;
  const methods = authMethods(policy, keyedAccountsExist);
  const providerId = autoRedirectOf(policy);
  return {
    features: featureSwitches(policy, methods),
    capabilities: {
      auth: {
        methods,
        signup: { methods: legacySignupMethods(methods) },
        login: {
          requiredProviders: auth.requiredLoginProviders,
          serverChallenge: auth.requireServerChallenge ? 'required' : 'optional',
        },
        providers: Object.fromEntries(
          providers.map(({ id, displayName, ui }) => [id, { displayName, ...ui }]),
        ),
        ui: { autoRedirect: { enabled: providerId !== null, providerId } },
      },
      encryption: {
        storagePolicy: encryption.storagePolicy,
        defaultAccountMode: encryption.defaultAccountMode,
        allowAccountOptOut: encryption.allowAccountOptOut,
        plainAccountSettingsAtRest: encryption.plainAccountSettingsAtRest,
        plainAccountCredentialsAtRest: encryption.plainAccountCredentialsAtRest,
      },
      server: { version, apiVersions: ['v1'] },
    },
  };
}

/** null where the target is not available: clients then show the methods to choose from. */
function autoRedirectOf({ ui, providers, mtls }: FeaturePolicy): string | null {
  const { enabled, providerId } = ui.autoRedirect;
  const isAvailable =
    providers.some(({ id, isOAuthConfigured }) => isOAuthConfigured && id === providerId) ||
    (providerId === 'mtls' && mtls.enabled && isMtlsReachable(mtls));
  return enabled && isAvailable ? providerId : null;
}

function featureSwitches(
  { encryption, keyless }: FeaturePolicy,
  methods: readonly AuthMethod[],
): object {
  const isOffered = (method: string): boolean => methods.some((entry) => entry.method === method);
  const acceptsPlaintext = encryption.storagePolicy !== 'required_e2ee';
  const enabled = (value: boolean): object => ({ enabled: value });
  return {
    auth: {
      login: { keyChallenge: enabled(isOffered('key_challenge')) },
      mtls: enabled(isOffered('mtls')),
      oauthKeyless: enabled(
        methods.some(
          ({ method, action, mode }) =>
            method !== 'mtls' && action === 'login' && mode === 'keyless',
        ),
      ),
    },
    e2ee: { keylessAccounts: enabled(keyless.accountsEnabled && acceptsPlaintext) },
    encryption: {
      plaintextStorage: enabled(acceptsPlaintext),
      accountOptOut: enabled(
        encryption.allowAccountOptOut && encryption.storagePolicy === 'optional',
      ),
    },
    pushTokens: enabled(true),
    updates: enabled(true),
  };
}

/** The surface older clients read: `anonymous` with its switch, then what can provision a key. */
function legacySignupMethods(methods: readonly AuthMethod[]): object[] {
  const provisioning = methods.filter(
    ({ action, mode }) => action === 'provision' && mode === 'keyed',
  );
  const isAnonymousOpen = provisioning.some(({ method }) => method === 'key_challenge');
  return [
    { id: 'anonymous', enabled: isAnonymousOpen },
    ...provisioning
      .filter(({ method }) => method !== 'key_challenge')
      .map(({ method }) => ({ id: method, enabled: true })),
  ];
}
