import type { MessageTable, Wording } from './statement.js';

interface Providers {
  readonly providers: readonly string[];
}

const SIGNUP_REFUSALS: Readonly<Record<string, string>> = {
  AUTH_ANONYMOUS_SIGNUP_ENABLED: 'anonymous sign-up is off',
  AUTH_KEY_CHALLENGE_ENABLED: 'sign-in with a device key is off',
  SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'encrypted content is not stored',
};

/** Allow rules, in the order in which an identity is judged by them. */
export type AllowRule =
  | 'users'
  | 'emailDomains'
  | 'groupsAny'
  | 'groupsAll'
  | 'orgsAny'
  | 'orgsAll'
  | 'issuers';

const ALLOW_RULES: Readonly<Record<AllowRule, string>> = {
  users: 'be one of',
  emailDomains: 'have an e-mail address of',
  groupsAny: 'be in one of the groups',
  groupsAll: 'be in all of the groups',
  orgsAny: 'be a member of one of the organisations',
  orgsAll: 'be a member of all of the organisations',
  issuers: 'have a certificate of one of the issuers',
};

/** The policy, in the order sign-up, login, eligibility, revocation, backends, storage. */
export const POLICY_MESSAGES = {
  'signup-open': () => 'Anyone who can reach this server can create an account.',
  'signup-invited': () => 'A new device key needs an invitation.',
  'signup-refused': ({ variable }: { readonly variable: string }) =>
    `A new device key is refused: ${SIGNUP_REFUSALS[variable] ?? variable}.`,
  'signup-providers': ({ providers }: Providers, words) =>
    `An account with device keys can be created through ${anyOf(providers, words)}.`,
  'signup-keyless': ({ providers }: Providers, words) =>
    `The first sign-in through ${anyOf(providers, words)} creates an account without device keys.`,
  'signup-certificate': () =>
    'The first sign-in with a client certificate creates an account without device keys.',

  'login-key': ({ isChallenged }: { readonly isChallenged: boolean }) =>
    `An existing account signs in with its device key${isChallenged ? ', signing a challenge of this server' : ''}.`,
  'login-key-off': () => 'Sign-in with a device key is off.',
  'login-keyless': ({ providers }: Providers, words) =>
    `Accounts without device keys sign in through ${anyOf(providers, words)}.`,
  'login-certificate': () => 'Accounts without device keys sign in with a client certificate.',

  'required-none': () => 'No identity provider is required to use the server.',
  'required-providers': ({ providers }: Providers, words) =>
    `To use the server, an account must be connected to ${allOf(providers, words)} and be eligible there.`,
  'keyless-served': () =>
    'An account without device keys is served only while one of its identities is eligible.',
  'provider-open': ({ provider }: { readonly provider: string }, words) =>
    `Anyone with an identity at ${words.provider(provider)} is eligible there.`,
  'provider-rule': ({ provider, rule, values }: ProviderRule, words) =>
    `To be eligible at ${words.provider(provider)}, a person must ${ALLOW_RULES[rule]}: ${values.join(', ')}.`,
  'provider-directory': ({ provider }: { readonly provider: string }, words) =>
    `To be eligible at ${words.provider(provider)}, a person must be active in its directory.`,
  rechecked: ({ seconds }: { readonly seconds: number }) =>
    `Eligibility is checked again every ${duration(seconds)}.`,
  'not-rechecked': () => 'Eligibility is not checked again after an identity is linked.',
  'login-instead': () =>
    'If a provider issues no refresh token, a sign-in lasts one interval; then the person must sign in again.',
  'outage-strict': () =>
    'While a provider is down, its identities are refused once their last good check is that old.',
  'outage-lenient': () => 'While a provider is down, its last answer counts.',

  'revoked-within': ({ seconds }: { readonly seconds: number }) =>
    `Ended access is refused on every replica within ${duration(seconds)}, whatever fails; with Redis usually at once.`,
  'revoked-at-backends': ({ seconds }: { readonly seconds: number }) =>
    `A backend with a guard refuses it within its lease, which is ${duration(seconds)} unless it sets another.`,

  'resource-server': ({ name, resource, providers, isKeyed }: Backend, words) =>
    `Sessions can get tokens for ${name} (${resource}).${providers.length === 0 ? '' : ` For that, an account must also be connected to ${allOf(providers, words)} and be eligible there.`}${isKeyed ? ' It refuses accounts without device keys.' : ''}`,

  'content-encrypted': () =>
    'Only end-to-end encrypted content is stored; the server cannot read it.',
  'content-plain': () =>
    'Encrypted content is refused; the server can read everything that is stored.',
  'content-optional': ({ isKeyless, canSwitch }: ContentChoice) =>
    `Content may be end-to-end encrypted or readable by the server${isKeyless ? ', and accounts without device keys are allowed' : ''}.${canSwitch ? ' Users can switch between the two.' : ''}`,
  'plain-sealed': () =>
    'Content that is not end-to-end encrypted is sealed in the database; the server can open it.',
  'plain-readable': () =>
    'Content that is not end-to-end encrypted is stored readable in the database, in whole or in part.',
} satisfies MessageTable;

interface ProviderRule {
  readonly provider: string;
  readonly rule: AllowRule;
  readonly values: readonly string[];
}

interface Backend extends Providers {
  readonly name: string;
  readonly resource: string;
  /** True if it refuses accounts without device keys. */
  readonly isKeyed: boolean;
}

interface ContentChoice {
  readonly isKeyless: boolean;
  readonly canSwitch: boolean;
}

const anyOf = (ids: readonly string[], { provider }: Wording): string =>
  new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(ids.map(provider));

const allOf = (ids: readonly string[], { provider }: Wording): string =>
  new Intl.ListFormat('en-GB', { type: 'conjunction' }).format(ids.map(provider));

function duration(seconds: number): string {
  if (seconds % 3600 === 0) {
    return counted(seconds / 3600, 'hour');
  }
  return seconds % 60 === 0 ? counted(seconds / 60, 'minute') : counted(seconds, 'second');
}

function counted(count: number, unit: string): string {
  return count === 1 ? unit : `${count} ${unit}s`;
}
