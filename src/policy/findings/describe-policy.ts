import {
  acceptsCertificates,
  acceptsKeyless,
  keyedSignupProviders,
  keylessProviders,
} from '../admission/auth-methods.js';
import type { OperatorPolicy } from '../operator-policy.js';

/** A sentence, or false where its condition does not hold. */
type Sentence = string | false;

/** The effective policy in plain sentences, in the order sign-up, login, offboarding, storage. */
export function describePolicy(policy: OperatorPolicy): string[] {
  return [
    ...signupSentences(policy),
    ...loginSentences(policy),
    ...offboardingSentences(policy),
    ...storageSentences(policy),
  ].filter((sentence) => sentence !== false);
}

function signupSentences(policy: OperatorPolicy): Sentence[] {
  const { auth, keyless, mtls } = policy;
  const keyed = keyedSignupProviders(policy);
  const provisioning = keyless.oauth.autoProvision ? keylessProviders(policy) : [];
  return [
    auth.anonymousSignupEnabled && auth.keyChallengeEnabled
      ? 'Anyone who can reach this server can create an account.'
      : 'A new device key is refused: anonymous sign-up is off.',
    keyed.length > 0 && `An account with device keys can be created through ${anyOf(keyed)}.`,
    provisioning.length > 0 &&
      `The first login through ${anyOf(provisioning)} creates an account without device keys.`,
    mtls.autoProvision &&
      acceptsCertificates(policy) &&
      'The first login with a client certificate creates an account without device keys.',
  ];
}

function loginSentences(policy: OperatorPolicy): Sentence[] {
  const { keyChallengeEnabled, requireServerChallenge } = policy.auth;
  const challenge = requireServerChallenge ? ', signing a challenge of this server' : '';
  const keyless = keylessProviders(policy);
  return [
    keyChallengeEnabled
      ? `An existing account logs in with its device key${challenge}.`
      : 'Login with a device key is off.',
    keyless.length > 0 && `Accounts without device keys log in through ${anyOf(keyless)}.`,
    acceptsCertificates(policy) && 'Accounts without device keys log in with a client certificate.',
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
