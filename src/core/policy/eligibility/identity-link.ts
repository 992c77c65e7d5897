import type { EligibilityStatus } from './eligibility.js';

/** The authority that names the people of a provider. */
export interface Authority {
  /** OpenID Connect: the issuer. GitHub: the address of the server. */
  readonly issuer: string;
  /** Issuers whose subjects are the same people, after the provider's address changed. */
  readonly formerIssuers: readonly string[];
}

/**
 * A subject is unique within its issuer only (OpenID Connect Core 1.0, 2).
 * @param stored null = stored before issuers were; the next confirmation adopts it
 * @param authority null = identities of this kind have no issuer (certificates)
 */
export function isOfAuthority(stored: string | null, authority: Authority | null): boolean {
  return (
    stored === null ||
    authority === null ||
    stored === authority.issuer ||
    authority.formerIssuers.includes(stored)
  );
}

export function issuersOf({ issuer, formerIssuers }: Authority): string[] {
  return [issuer, ...formerIssuers];
}

export interface LinkedIdentity {
  readonly accountId: string;
  readonly subject: string;
  /** null = stored before issuers were. */
  readonly issuer: string | null;
  readonly login: string | null;
  readonly status: EligibilityStatus;
  /** Time of the last definite answer, Unix milliseconds; null = never. */
  readonly checkedAt: number | null;
}

/** A proven identity with the account to link it to. */
interface LinkRequest extends Pick<LinkedIdentity, 'accountId' | 'subject' | 'login'> {
  /** null = identities of this kind have no issuer. */
  readonly authority: Authority | null;
  /** Time of the provider's answer, Unix milliseconds. */
  readonly checkedAt: number;
}

type LinkDecision =
  | { readonly kind: 'insert' }
  | { readonly kind: 'refresh'; readonly change: 'regained' | 'renamed' | 'none' }
  | { readonly kind: 'refuse'; readonly code: 'provider-already-linked' | 'not-eligible' }
  /** The same subject of another issuer, which is another person. */
  | { readonly kind: 'foreign'; readonly issuer: string | null };

/** An account has one identity per provider, and an identity one account. */
export function judgeLink(request: LinkRequest, linked: readonly LinkedIdentity[]): LinkDecision {
  const [identity, ...others] = linked;
  if (identity === undefined) {
    return { kind: 'insert' };
  }
  const foreign = linked.find(
    ({ subject, issuer }) =>
      subject === request.subject && !isOfAuthority(issuer, request.authority),
  );
  if (foreign !== undefined) {
    return { kind: 'foreign', issuer: foreign.issuer };
  }
  const isSame = identity.accountId === request.accountId && identity.subject === request.subject;
  if (!isSame || others.length > 0) {
    return { kind: 'refuse', code: 'provider-already-linked' };
  }
  if (identity.status === 'ineligible' && (identity.checkedAt ?? 0) > request.checkedAt) {
    return { kind: 'refuse', code: 'not-eligible' };
  }
  if (identity.status !== 'eligible') {
    return { kind: 'refresh', change: 'regained' };
  }
  return { kind: 'refresh', change: identity.login === request.login ? 'none' : 'renamed' };
}
