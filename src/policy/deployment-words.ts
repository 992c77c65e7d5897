import {
  keyedPossible,
  keyedSignupProviders,
  keylessPossible,
  keylessProviders,
  mtlsPossible,
  type AccessPolicyFacts,
} from './access-facts.js';

/** The effective policy in plain sentences, in the order sign-up, login, staying, storage. */
export function describePolicy(facts: AccessPolicyFacts): string[] {
  return [
    ...signupWords(facts),
    ...loginWords(facts),
    ...stayingWords(facts),
    ...storageWords(facts),
  ];
}

function signupWords(facts: AccessPolicyFacts): string[] {
  const words: string[] = [];
  const keyed = keyedSignupProviders(facts);
  const keyless = facts.keylessOauth.autoProvision ? keylessProviders(facts) : [];
  if (facts.anonymousSignupEnabled && keyedPossible(facts)) {
    words.push('Anyone who can reach this server can create an account.');
  } else {
    words.push('A new device key is refused: anonymous sign-up is off.');
  }
  if (keyed.length > 0) {
    words.push(`An account with device keys can be created through ${anyOf(keyed)}.`);
  }
  if (keyless.length > 0) {
    words.push(`The first login through ${anyOf(keyless)} creates an account without device keys.`);
  }
  if (facts.mtls.autoProvision && mtlsPossible(facts)) {
    words.push('The first login with a client certificate creates an account without device keys.');
  }
  return words;
}

function loginWords(facts: AccessPolicyFacts): string[] {
  const words = [
    keyedPossible(facts)
      ? `An existing account logs in with its device key${challengeWords(facts)}.`
      : 'Login with a device key is off.',
  ];
  const keyless = keylessProviders(facts);
  if (keyless.length > 0) {
    words.push(`Accounts without device keys log in through ${anyOf(keyless)}.`);
  }
  if (mtlsPossible(facts)) {
    words.push('Accounts without device keys log in with a client certificate.');
  }
  return words;
}

function challengeWords(facts: AccessPolicyFacts): string {
  return facts.requireServerChallenge ? ', signing a challenge of this server' : '';
}

function stayingWords(facts: AccessPolicyFacts): string[] {
  const required = facts.requiredLoginProviders;
  const words =
    required.length === 0
      ? ['No identity provider is required to use the server.']
      : [
          `To use the server, an account must be connected to ${allOf(required)} and be eligible there.`,
        ];
  const { enabled, intervalSeconds, strict } = facts.offboarding;
  if (!enabled) {
    return [...words, 'Eligibility is not checked again after an identity is linked.'];
  }
  return [
    ...words,
    `Eligibility is checked again every ${duration(intervalSeconds)}.`,
    strict
      ? 'While a provider is down, its identities are refused once their last good check is that old.'
      : 'While a provider is down, its last answer counts.',
  ];
}

function storageWords(facts: AccessPolicyFacts): string[] {
  const words = [policyWords(facts)];
  if (facts.storagePolicy !== 'required_e2ee') {
    words.push(
      facts.plainContentSealed
        ? 'Content that is not end-to-end encrypted is sealed in the database; the server can open it.'
        : 'Content that is not end-to-end encrypted is stored readable in the database, in whole or in part.',
    );
  }
  return words;
}

function policyWords(facts: AccessPolicyFacts): string {
  switch (facts.storagePolicy) {
    case 'required_e2ee':
      return 'Only end-to-end encrypted content is stored; the server cannot read it.';
    case 'plaintext_only':
      return 'Encrypted content is refused; the server can read everything that is stored.';
    case 'optional':
      return optionalWords(facts);
  }
}

function optionalWords(facts: AccessPolicyFacts): string {
  const who = keylessPossible(facts) ? ', and accounts without device keys are allowed' : '';
  const change = facts.allowAccountOptOut ? ' Users can switch between the two.' : '';
  return `Content may be end-to-end encrypted or readable by the server${who}.${change}`;
}

function anyOf(ids: readonly string[]): string {
  return joined(ids, 'or');
}

function allOf(ids: readonly string[]): string {
  return joined(ids, 'and');
}

function joined(ids: readonly string[], word: string): string {
  const last = ids.at(-1) ?? '';
  return ids.length < 2 ? last : `${ids.slice(0, -1).join(', ')} ${word} ${last}`;
}

function duration(seconds: number): string {
  if (seconds % 3600 === 0) {
    return counted(seconds / 3600, 'hour');
  }
  return seconds % 60 === 0 ? counted(seconds / 60, 'minute') : counted(seconds, 'second');
}

function counted(count: number, unit: string): string {
  return count === 1 ? unit : `${count} ${unit}s`;
}
