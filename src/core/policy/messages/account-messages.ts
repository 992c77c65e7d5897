import type { EligibilityStatus } from '../eligibility/eligibility.js';
import type { MessageTable, Wording } from './statement.js';

interface OfProvider {
  readonly provider: string;
}

interface Judged {
  readonly status: EligibilityStatus;
  readonly reason: string | null;
}

/** Reasons for a decision about one account, and the facts behind it. */
export const ACCOUNT_MESSAGES = {
  'account-enabled': () => 'The account is enabled.',
  'account-disabled': ({ at }: { readonly at: number }, { time }) =>
    `The account is disabled since ${time(at)}.`,
  'account-keyless': () => 'It has no device key: one of its identities has to be eligible.',
  'no-identity-eligible': () => 'None of the identities with which it can sign in is eligible.',
  'identity-not-confirmed': ({ provider }: OfProvider, words) =>
    `${words.provider(provider)} is required, and does not confirm its identity.`,
  'identity-login-expired': ({ provider }: OfProvider, words) =>
    `${words.provider(provider)} issued no refresh token, and the last sign-in there is older than the interval: the person must sign in again.`,
  'identity-not-linked': ({ provider }: OfProvider, words) =>
    `${words.provider(provider)} is required, and no identity of it is linked.`,
  'backend-allowed': ({ name }: { readonly name: string }) => `${name}: its sessions get tokens.`,
  'backend-refused': ({ name, provider, code }: RefusedBackend, words) =>
    `${name}: its sessions get no token (${provider === null ? '' : `${words.provider(provider)}: `}${words.reason(code)}).`,
  'backend-programs': ({
    name,
    programs,
  }: {
    readonly name: string;
    readonly programs: readonly string[];
  }) => `${name}: programs act for the person there: ${programs.join(', ')}.`,
  'login-allowed': ({ method }: { readonly method: string }, { provider }) =>
    `The sign-in method ${provider(method)} is allowed.`,
  'login-refused': ({ method, variable, code }: RefusedLogin, { provider, reason }) =>
    `The sign-in method ${provider(method)} is refused by ${variable}: ${reason(code)}.`,

  'identity-absent': () => 'No identity is linked: provider-required.',
  'identity-linked': ({ name, status, reason }: Judged & { readonly name: string }, words) =>
    `Linked as ${name}; stored result: ${judged(status, reason, words)}.`,
  'identity-checks': ({ checkedAt, nextCheckAt, failures }: Checks, words) =>
    `Last definite answer ${timeOf(checkedAt, words)}; next check ${timeOf(nextCheckAt, words)}; ${failures === 1 ? '1 check' : `${failures} checks`} without an answer since.`,
  'identity-no-facts': () => 'No facts about the person are stored yet.',
  'identity-facts': ({ login, email, isVerified, groups, ...organizations }: Facts) =>
    facts('provider', [
      login !== null && `login ${login}`,
      email !== null && `e-mail address ${email} (${isVerified ? 'verified' : 'not verified'})`,
      groups === null ? noGroups(organizations) : `groups ${groups.join(', ') || 'none'}`,
      valued('member of', organizations.memberOf),
      valued('invited to', organizations.invitedTo),
      valued('no member of', organizations.strangerTo),
    ]),
  'certificate-facts': ({ names, issuer, expiresAt }: CertificateFacts, { time }) =>
    facts('certificate', [
      valued('names', names),
      issuer !== null && `issuer ${issuer}`,
      expiresAt !== null && `valid until ${time(expiresAt)}`,
    ]),
  'identity-judged': ({ status, reason }: Judged, words) =>
    `By these rules: ${judged(status, reason, words)}.`,
  'identity-not-judged': () => 'By these rules: not judged.',
  'directory-active': ({ at }: Reported, { time }) =>
    `The directory shows the person as active since ${time(at)}.`,
  'directory-inactive': ({ at }: Reported, { time }) =>
    `The directory deactivated the person on ${time(at)}. A newer request of the directory, or the command "gatehouse account enable", ends that.`,
  'directory-absent': () =>
    'The directory does not show the person as active, which signals.scim.required demands.',
  'signal-disabled': ({ at }: Reported, { time }) =>
    `The provider disabled the person by a signal on ${time(at)}.`,
  'signed-out': ({ at }: Reported, { time }) =>
    `The provider ended all sessions of the person on ${time(at)} (universal logout). The next sign-in at the provider ends that.`,
} satisfies MessageTable;

interface Reported {
  readonly at: number;
}

interface RefusedBackend {
  readonly name: string;
  /** null = no single provider decides. */
  readonly provider: string | null;
  readonly code: string;
}

interface RefusedLogin {
  readonly method: string;
  readonly variable: string;
  readonly code: string;
}

interface Checks {
  readonly checkedAt: number | null;
  readonly nextCheckAt: number | null;
  readonly failures: number;
}

interface Organizations {
  readonly memberOf: readonly string[];
  readonly invitedTo: readonly string[];
  readonly strangerTo: readonly string[];
}

interface Facts extends Organizations {
  readonly login: string | null;
  readonly email: string | null;
  readonly isVerified: boolean;
  /** null = the provider reported none, which is not an empty list. */
  readonly groups: readonly string[] | null;
}

interface CertificateFacts {
  readonly names: readonly string[];
  readonly issuer: string | null;
  readonly expiresAt: number | null;
}

const facts = (source: string, known: readonly (string | false)[]): string =>
  `Facts from the ${source}: ${known.filter(Boolean).join('; ') || 'none'}.`;

const valued = (label: string, values: readonly string[]): string | false =>
  values.length > 0 && `${label} ${values.join(', ')}`;

/** A provider of organisations has no groups. */
function noGroups({ memberOf, invitedTo, strangerTo }: Organizations): string | false {
  return memberOf.length + invitedTo.length + strangerTo.length === 0 && 'groups not reported';
}

function judged(status: EligibilityStatus, reason: string | null, words: Wording): string {
  return reason === null ? status : `${status} (${words.reason(reason)})`;
}

function timeOf(at: number | null, { time }: Wording): string {
  return at === null ? 'never' : time(at);
}
