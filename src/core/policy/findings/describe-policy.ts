import {
  acceptsKeyless,
  admissionTable,
  CERTIFICATES,
  INVITATION,
  judgeAdmission,
  methodsWith,
  type AdmissionEntry,
} from '../admission/admission.js';
import { revocationBounds } from '../admission/revocation.js';
import {
  capabilitiesOf,
  isRestricted,
  requiresDirectory,
  type ProviderRules,
} from '../eligibility/provider-rules.js';
import { state } from '../messages/messages.js';
import type { AllowRule } from '../messages/policy-messages.js';
import type { Statement } from '../messages/statement.js';
import type { OperatorPolicy } from '../operator-policy.js';

/** False where its condition does not hold. */
type Sentence = Statement | false;

export function describePolicy(policy: OperatorPolicy): string[] {
  return policyStatements(policy).map(({ message }) => message);
}

/** In the order sign-up, login, eligibility, revocation, backends, storage. */
export function policyStatements(policy: OperatorPolicy): Statement[] {
  const table = admissionTable(policy);
  return [
    ...signupSentences(table),
    ...loginSentences(table, policy),
    ...requirementSentences(policy),
    ...policy.providers.flatMap(eligibilityStatements),
    ...certificateStatements(policy),
    ...offboardingSentences(policy),
    ...revocationSentences(policy),
    ...resourceServerSentences(policy),
    ...storageSentences(policy),
  ].filter((sentence) => sentence !== false);
}

function signupSentences(table: readonly AdmissionEntry[]): Sentence[] {
  const keyed = methodsWith(table, 'provision', 'keyed').filter(
    (id) => id !== 'key_challenge' && id !== INVITATION,
  );
  const keyless = methodsWith(table, 'provision', 'keyless');
  const provisioning = keyless.filter((id) => id !== CERTIFICATES);
  return [
    signupSentence(table),
    keyed.length > 0 && state('signup-providers', { providers: keyed }),
    provisioning.length > 0 && state('signup-keyless', { providers: provisioning }),
    keyless.includes(CERTIFICATES) && state('signup-certificate'),
  ];
}

function signupSentence(table: readonly AdmissionEntry[]): Statement {
  const decision = judgeAdmission(table, 'key_challenge', 'provision', 'keyed');
  if (decision.isAllowed) {
    return state('signup-open');
  }
  return judgeAdmission(table, INVITATION, 'provision', 'keyed').isAllowed
    ? state('signup-invited')
    : state('signup-refused', { variable: decision.variable });
}

function loginSentences(table: readonly AdmissionEntry[], { auth }: OperatorPolicy): Sentence[] {
  const methods = methodsWith(table, 'login', 'keyless');
  const keyless = methods.filter((id) => id !== CERTIFICATES);
  return [
    methodsWith(table, 'login', 'keyed').length > 0
      ? state('login-key', { isChallenged: auth.requireServerChallenge })
      : state('login-key-off'),
    keyless.length > 0 && state('login-keyless', { providers: keyless }),
    methods.includes(CERTIFICATES) && state('login-certificate'),
  ];
}

function requirementSentences(policy: OperatorPolicy): Sentence[] {
  const { requiredLoginProviders: providers } = policy.auth;
  return [
    providers.length === 0 ? state('required-none') : state('required-providers', { providers }),
    acceptsKeyless(policy) && state('keyless-served'),
  ];
}

export function eligibilityStatements(provider: ProviderRules): Statement[] {
  const { users, emailDomains, groupsAny, groupsAll, orgs, orgMatch } =
    capabilitiesOf(provider).rules;
  const orgsRule = orgMatch === 'all' ? 'orgsAll' : 'orgsAny';
  const rules = { users, emailDomains, groupsAny, groupsAll, [orgsRule]: orgs };
  return [
    ...(isRestricted(provider) ? [] : [state('provider-open', { provider: provider.id })]),
    ...allowRules(provider.id, rules),
    ...(requiresDirectory(provider)
      ? [state('provider-directory', { provider: provider.id })]
      : []),
  ];
}

export function certificateStatements({ mtls }: Pick<OperatorPolicy, 'mtls'>): Statement[] {
  const { allowedIssuers: issuers, allowedEmailDomains: emailDomains } = mtls;
  return mtls.enabled ? allowRules(CERTIFICATES, { issuers, emailDomains }) : [];
}

function allowRules(
  provider: string,
  rules: { readonly [Rule in AllowRule]?: readonly string[] },
): Statement[] {
  return (Object.entries(rules) as [AllowRule, readonly string[]][])
    .filter(([, values]) => values.length > 0)
    .map(([rule, values]) => state('provider-rule', { provider, rule, values }));
}

function offboardingSentences({ auth: { offboarding } }: OperatorPolicy): Sentence[] {
  return [
    offboarding.enabled
      ? state('rechecked', { seconds: offboarding.intervalSeconds })
      : state('not-rechecked'),
    offboarding.enabled && state('login-instead'),
    offboarding.enabled && state(offboarding.strict ? 'outage-strict' : 'outage-lenient'),
  ];
}

function revocationSentences({ auth, resourceServers }: OperatorPolicy): Sentence[] {
  const { replicaSeconds, backendSeconds } = revocationBounds(auth.accessCacheMs);
  return [
    state('revoked-within', { seconds: replicaSeconds }),
    resourceServers.length > 0 && state('revoked-at-backends', { seconds: backendSeconds }),
  ];
}

function resourceServerSentences({ resourceServers }: OperatorPolicy): Sentence[] {
  return resourceServers.map(({ name, resource, requireProviders: providers, allowKeyless }) =>
    state('resource-server', { name, resource, providers, isKeyed: !allowKeyless }),
  );
}

function storageSentences(policy: OperatorPolicy): Sentence[] {
  const { storagePolicy, plainAccountSettingsAtRest, plainAccountCredentialsAtRest } =
    policy.encryption;
  const isSealed = [plainAccountSettingsAtRest, plainAccountCredentialsAtRest].every(
    (atRest) => atRest === 'server_sealed',
  );
  return [
    storedContent(policy),
    storagePolicy !== 'required_e2ee' && state(isSealed ? 'plain-sealed' : 'plain-readable'),
  ];
}

function storedContent(policy: OperatorPolicy): Statement {
  switch (policy.encryption.storagePolicy) {
    case 'required_e2ee':
      return state('content-encrypted');
    case 'plaintext_only':
      return state('content-plain');
    case 'optional':
      return state('content-optional', {
        isKeyless: acceptsKeyless(policy),
        canSwitch: policy.encryption.allowAccountOptOut,
      });
  }
}
