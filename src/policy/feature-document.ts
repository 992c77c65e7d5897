import { authMethods, type AuthMethod, type AuthMethodFacts } from './auth-methods.js';
import type { AccountMode } from './storage-policy.js';

/** How a provider looks on a login screen. */
export interface ProviderLook {
  readonly id: string;
  readonly displayName: string;
  readonly iconHint: string | null;
  readonly buttonColor: string | null;
}

export interface FeatureFacts extends AuthMethodFacts {
  readonly requiredProviders: readonly string[];
  readonly requireServerChallenge: boolean;
  readonly looks: readonly ProviderLook[];
  readonly autoRedirectProvider: string | null;
  readonly defaultAccountMode: AccountMode;
  readonly allowAccountOptOut: boolean;
  readonly plainAccountSettingsAtRest: string;
  readonly plainAccountCredentialsAtRest: string;
  readonly version: string;
}

/** The body of `GET /v1/features` (contract, Discovery). */
export interface FeatureDocument {
  readonly features: object;
  readonly capabilities: {
    readonly auth: { readonly methods: readonly AuthMethod[] } & Readonly<Record<string, unknown>>;
  } & Readonly<Record<string, unknown>>;
}

/** What clients may know of this policy: what works, and nothing about what is misconfigured. */
export function featureDocument(facts: FeatureFacts): FeatureDocument {
  const methods = authMethods(facts);
  return {
    features: featureSwitches(facts, methods),
    capabilities: {
      auth: {
        methods,
        signup: { methods: legacySignupMethods(methods) },
        login: {
          requiredProviders: facts.requiredProviders,
          serverChallenge: facts.requireServerChallenge ? 'required' : 'optional',
        },
        providers: Object.fromEntries(facts.looks.map(({ id, ...look }) => [id, look])),
        ui: {
          autoRedirect: {
            enabled: facts.autoRedirectProvider !== null,
            providerId: facts.autoRedirectProvider,
          },
        },
      },
      encryption: {
        storagePolicy: facts.storagePolicy,
        defaultAccountMode: facts.defaultAccountMode,
        allowAccountOptOut: facts.allowAccountOptOut,
        plainAccountSettingsAtRest: facts.plainAccountSettingsAtRest,
        plainAccountCredentialsAtRest: facts.plainAccountCredentialsAtRest,
      },
      server: { version: facts.version, apiVersions: ['v1'] },
    },
  };
}

function featureSwitches(facts: FeatureFacts, methods: readonly AuthMethod[]): object {
  const isOffered = (method: string): boolean => methods.some((entry) => entry.method === method);
  const acceptsPlaintext = facts.storagePolicy !== 'required_e2ee';
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
    e2ee: { keylessAccounts: enabled(facts.keylessAccountsEnabled && acceptsPlaintext) },
    encryption: {
      plaintextStorage: enabled(acceptsPlaintext),
      accountOptOut: enabled(facts.allowAccountOptOut && facts.storagePolicy === 'optional'),
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
