import type { OidcProviderSettings } from '../config/settings.js';
import type { EligibilityFacts } from '../policy/eligibility.js';
import type { Claims } from './oidc-client.js';

export type ClaimSettings = Pick<OidcProviderSettings, 'claims' | 'emailVerification'>;

/** The claim that `email_verified` is about (OpenID Connect Core 1.0, 5.1); no other one. */
const EMAIL = 'email';

/**
 * ID token and userinfo as one: userinfo is fresher and wins. `email_verified` is taken from where
 * `email` is: the word of one answer says nothing of the address in the other.
 */
export function mergeClaims(idToken: Claims, userInfo: Claims): Claims {
  const addressed = Object.hasOwn(userInfo, EMAIL) ? userInfo : idToken;
  return { ...idToken, ...userInfo, email_verified: own(addressed, 'email_verified') };
}

/** What the claims say, under the names the operator gave. Groups that are not there are null. */
export function factsOf(claims: Claims, settings: ClaimSettings): EligibilityFacts {
  return {
    login: textOf(own(claims, settings.claims.login)),
    email: textOf(own(claims, settings.claims.email)),
    emailVerified: settings.emailVerification === 'trustedIssuer' || isVerified(claims, settings),
    groups: groupsIn(claims, settings.claims.groups),
    memberships: {},
  };
}

function isVerified(claims: Claims, settings: ClaimSettings): boolean {
  const verified = own(claims, 'email_verified');
  // Some providers write the flag as a text.
  return settings.claims.email === EMAIL && (verified === true || verified === 'true');
}

/**
 * The groups of a claim; null when it is absent. A claim that is only announced (`_claim_names`, as
 * Microsoft Entra ID does beyond 200 groups) is absent, and the address that comes with it is never
 * asked: whoever could choose it would choose what this server calls.
 */
function groupsIn(claims: Claims, name: string): readonly string[] | null {
  const value = own(claims, name);
  if (typeof value !== 'string' && !Array.isArray(value)) {
    return null;
  }
  return [value].flat().filter(isText);
}

function own(claims: Claims, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

function textOf(value: unknown): string | null {
  return isText(value) && value !== '' ? value : null;
}

/** Half a surrogate pair and NUL can be in JSON, and in no database: such a text says nothing. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0') && !/\p{Cs}/u.test(value);
}
