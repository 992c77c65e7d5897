import type { OffboardingRules } from '../eligibility/offboarding.js';
import { capabilitiesOf, type ProviderRules } from '../eligibility/provider-rules.js';
import type { OperatorPolicy } from '../operator-policy.js';
import {
  acceptsKeyless,
  admissionTable,
  allowedMethods,
  CERTIFICATES,
  INVITATION,
  judgeAdmission,
  methodsWith,
  type AdmissionEntry,
  type AdmissionPolicy,
  type AuthMethod,
} from './admission.js';
import { acceptsPrograms } from '../programs/programs.js';
import { offersAnswers } from './answers.js';
import { revocationBounds, type RevocationBounds } from './revocation.js';
import { newKeyedAccountMode } from './encryption.js';

type FeaturePolicy = AdmissionPolicy & Pick<OperatorPolicy, 'ui'>;

/** The body of `GET /v1/features` (contract, Discovery). */
export interface FeatureDocument {
  readonly features: object;
  readonly capabilities: {
    readonly auth: { readonly methods: readonly AuthMethod[] } & Readonly<Record<string, unknown>>;
  } & Readonly<Record<string, unknown>>;
}

/**
 * Contains the features that work, and nothing about misconfiguration.
 * @param support where refused people ask for help; null = not configured
 */
export function featureDocument(
  policy: FeaturePolicy,
  version: string,
  support: string | null = null,
): FeatureDocument {
  const { auth, encryption, providers, ui } = policy;
  const table = admissionTable(policy);
  const methods = allowedMethods(table);
  const providerId = ui.autoRedirect.enabled ? redirectTarget(table, ui.autoRedirect) : null;
  const isOptOutOffered = encryption.allowAccountOptOut && encryption.storagePolicy === 'optional';
  return {
    features: featureSwitches(policy, table, isOptOutOffered),
    capabilities: {
      auth: {
        methods: methods.filter(({ method }) => method !== INVITATION),
        signup: { methods: signupMethods(methods) },
        login: {
          requiredProviders: auth.requiredLoginProviders,
          serverChallenge: auth.requireServerChallenge ? 'required' : 'optional',
        },
        providers: Object.fromEntries(
          providers.map((provider) => [provider.id, describeProvider(provider, auth.offboarding)]),
        ),
        ui: { autoRedirect: { enabled: providerId !== null, providerId } },
      },
      encryption: {
        storagePolicy: encryption.storagePolicy,
        defaultAccountMode: newKeyedAccountMode(encryption),
        allowAccountOptOut: isOptOutOffered,
        plainAccountSettingsAtRest: encryption.plainAccountSettingsAtRest,
        plainAccountCredentialsAtRest: encryption.plainAccountCredentialsAtRest,
      },
      ...describeResourceServers(policy),
      server: { version, apiVersions: ['v1'], ...(support !== null && { support }) },
    },
  };
}

function describeProvider(
  provider: ProviderRules,
  { enabled, intervalSeconds }: OffboardingRules,
): object {
  return {
    displayName: provider.displayName,
    ...provider.ui,
    offboarding: { enabled: enabled && capabilitiesOf(provider).isRecheckable, intervalSeconds },
  };
}

/** The rules are included, so that clients know why an account gets no token. */
function describeResourceServers({ resourceServers }: FeaturePolicy): object {
  if (resourceServers.length === 0) {
    return {};
  }
  const described = resourceServers.map(
    ({ id, name, resource, requireProviders, allowKeyless }) => [
      id,
      {
        displayName: name,
        resource,
        requiredProviders: requireProviders,
        keylessAccounts: allowKeyless,
      },
    ],
  );
  return { resourceServers: Object.fromEntries(described) as Record<string, object> };
}

/** Returns null where the target neither signs in nor creates accounts: clients show all methods. */
export function redirectTarget(
  table: readonly AdmissionEntry[],
  { providerId }: OperatorPolicy['ui']['autoRedirect'],
): string | null {
  const isOffered = allowedMethods(table).some(
    ({ method, action }) => method === providerId && action !== 'connect',
  );
  return isOffered ? providerId : null;
}

function featureSwitches(
  policy: Pick<FeaturePolicy, 'answers' | 'auth' | 'encryption' | 'keyless' | 'resourceServers'>,
  table: readonly AdmissionEntry[],
  isOptOutOffered: boolean,
): object {
  const isOffered = (method: string): boolean =>
    judgeAdmission(table, method, 'login', method === 'key_challenge' ? 'keyed' : 'keyless')
      .isAllowed;
  const enabled = (value: boolean): object => ({ enabled: value });
  return {
    auth: {
      login: { keyChallenge: enabled(isOffered('key_challenge')) },
      mtls: enabled(isOffered(CERTIFICATES)),
      oauthKeyless: enabled(
        methodsWith(table, 'login', 'keyless').some((method) => method !== CERTIFICATES),
      ),
    },
    e2ee: { keylessAccounts: enabled(acceptsKeyless(policy)) },
    encryption: {
      plaintextStorage: enabled(policy.encryption.storagePolicy !== 'required_e2ee'),
      accountOptOut: enabled(isOptOutOffered),
    },
    pushTokens: enabled(true),
    updates: enabled(true),
    revocation: describeRevocation(policy),
    answers: enabled(offersAnswers(policy)),
    ...(acceptsPrograms(policy.resourceServers) && { programs: enabled(true) }),
  };
}

function describeRevocation({
  auth,
  resourceServers,
}: Pick<FeaturePolicy, 'auth' | 'resourceServers'>): Partial<RevocationBounds> {
  const { replicaSeconds, backendSeconds } = revocationBounds(auth.accessCacheMs);
  return { replicaSeconds, ...(resourceServers.length > 0 && { backendSeconds }) };
}

/** Fields for older clients. An invitation is no method: a first login by device key sends it. */
function signupMethods(methods: readonly AuthMethod[]): object[] {
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
