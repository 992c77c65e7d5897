import type { EligibilityStatus } from './eligibility-status.js';
import { isOfAuthority, type Authority } from './identity-issuer.js';

/** An identity that is linked to some account. */
export interface LinkedIdentity {
  readonly accountId: string;
  readonly subject: string;
  /** Who named it; null = stored before issuers were. */
  readonly issuer: string | null;
  readonly login: string | null;
  readonly status: EligibilityStatus;
  /** When its provider last gave a definite answer, Unix milliseconds; null = never. */
  readonly checkedAt: number | null;
}

/** An identity that somebody has just proven, and the account it is for. */
export interface LinkRequest {
  readonly accountId: string;
  readonly subject: string;
  /** null = identities of this kind have no issuer. */
  readonly authority: Authority | null;
  readonly login: string | null;
  /** When the provider said so, Unix milliseconds. */
  readonly checkedAt: number;
}

export type LinkDecision =
  | { readonly kind: 'insert' }
  | { readonly kind: 'refresh'; readonly change: 'regained' | 'renamed' | 'none' }
  | { readonly kind: 'refuse'; readonly code: 'provider-already-linked' | 'not-eligible' }
  /** The same subject of another issuer, which is another person. */
  | { readonly kind: 'foreign'; readonly issuer: string | null };

/**
 * What linking a proven identity to an account comes to, given the identities of that provider
 * which it meets. One identity has one account, and an account has one identity per provider:
 * another one has to be unlinked first. A no that is newer than the proof stands.
 */
export function judgeLink(request: LinkRequest, met: readonly LinkedIdentity[]): LinkDecision {
  const [identity, ...others] = met;
  if (identity === undefined) {
    return { kind: 'insert' };
  }
  const foreign = met.find(
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
