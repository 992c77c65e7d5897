import {
  acceptsKeyless,
  admissionTable,
  CERTIFICATES,
  INVITATION,
  judgeAdmission,
  methodsWith,
  type AdmissionEntry,
} from '../admission/admission.js';
import type { OperatorPolicy } from '../operator-policy.js';

/** A sentence, or false where its condition does not hold. */
type Sentence = string | false;

/** The effective policy in plain sentences, in the order sign-up, login, offboarding, storage. */
export function describePolicy(policy: OperatorPolicy): string[] {
  const table = admissionTable(policy);
  return [
    ...signupSentences(table),
    ...loginSentences(table, policy),
    ...offboardingSentences(policy),
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
    keyed.length > 0 && `An account with device keys can be created through ${anyOf(keyed)}.`,
    provisioning.length > 0 &&
      `The first login through ${anyOf(provisioning)} creates an account without device keys.`,
    keyless.includes(CERTIFICATES) &&
      'The first login with a client certificate creates an account without device keys.',
  ];
}

const SIGNUP_REFUSALS: Readonly<Record<string, string>> = {
  AUTH_ANONYMOUS_SIGNUP_ENABLED: 'anonymous sign-up is off',
  AUTH_KEY_CHALLENGE_ENABLED: 'login with a device key is off',
  SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'encrypted content is not stored',
};

function signupSentence(table: readonly AdmissionEntry[]): string {
  const decision = judgeAdmission(table, 'key_challenge', 'provision', 'keyed');
  if (decision.isAllowed) {
    return 'Anyone who can reach this server can create an account.';
  }
  if (judgeAdmission(table, INVITATION, 'provision', 'keyed').isAllowed) {
    return 'A new device key needs an invitation.';
  }
  const reason = SIGNUP_REFUSALS[decision.variable] ?? decision.variable;
  return `A new device key is refused: ${reason}.`;
}

function loginSentences(table: readonly AdmissionEntry[], { auth }: OperatorPolicy): Sentence[] {
  const challenge = auth.requireServerChallenge ? ', signing a challenge of this server' : '';
  const methods = methodsWith(table, 'login', 'keyless');
  const keyless = methods.filter((id) => id !== CERTIFICATES);
  return [
    methodsWith(table, 'login', 'keyed').length > 0
      ? `An existing account logs in with its device key${challenge}.`
      : 'Login with a device key is off.',
    keyless.length > 0 && `Accounts without device keys log in through ${anyOf(keyless)}.`,
    methods.includes(CERTIFICATES) &&
      'Accounts without device keys log in with a client certificate.',
  ];
}

function offboardingSentences(policy: OperatorPolicy): Sentence[] {
  const { requiredLoginProviders: required, offboarding } = policy.auth;
  return [
    required.length === 0
      ? 'No identity provider is required to use the server.'
      : `To use the server, an account must be connected to ${allOf(required)} and be eligible there.`,
    acceptsKeyless(policy) &&
      'An account without device keys is served only while one of its identities is eligible.',
    offboarding.enabled
      ? `Eligibility is checked again every ${duration(offboarding.intervalSeconds)}.`
      : 'Eligibility is not checked again after an identity is linked.',
    offboarding.enabled &&
      (offboarding.strict
        ? 'While a provider is down, its identities are refused once their last good check is that old.'
        : 'While a provider is down, its last answer counts.'),
  ];
}

function storageSentences(policy: OperatorPolicy): Sentence[] {
  const { storagePolicy, plainAccountSettingsAtRest, plainAccountCredentialsAtRest } =
    policy.encryption;
  const isSealed = [plainAccountSettingsAtRest, plainAccountCredentialsAtRest].every(
    (atRest) => atRest === 'server_sealed',
  );
  return [
    storedContent(policy),
    storagePolicy !== 'required_e2ee' &&
      (isSealed
        ? 'Content that is not end-to-end encrypted is sealed in the database; the server can open it.'
        : 'Content that is not end-to-end encrypted is stored readable in the database, in whole or in part.'),
  ];
}

function storedContent(policy: OperatorPolicy): string {
  switch (policy.encryption.storagePolicy) {
    case 'required_e2ee':
      return 'Only end-to-end encrypted content is stored; the server cannot read it.';
    case 'plaintext_only':
      return 'Encrypted content is refused; the server can read everything that is stored.';
    case 'optional': {
      const who = acceptsKeyless(policy) ? ', and accounts without device keys are allowed' : '';
      const change = policy.encryption.allowAccountOptOut
        ? ' Users can switch between the two.'
        : '';
      return `Content may be end-to-end encrypted or readable by the server${who}.${change}`;
    }
  }
}

const anyOf = (ids: readonly string[]): string =>
  new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(ids);

const allOf = (ids: readonly string[]): string =>
  new Intl.ListFormat('en-GB', { type: 'conjunction' }).format(ids);

function duration(seconds: number): string {
  if (seconds % 3600 === 0) {
    return counted(seconds / 3600, 'hour');
  }
  return seconds % 60 === 0 ? counted(seconds / 60, 'minute') : counted(seconds, 'second');
}

function counted(count: number, unit: string): string {
  return count === 1 ? unit : `${count} ${unit}s`;
}
