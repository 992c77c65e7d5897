/** The first line; with it a signature can only mean a login. */
export const LOGIN_CHALLENGE_VERSION = 'gatehouse-login-v1';

/** Limit of `POST /v1/auth` (contract, Sign-up and login with a device key). */
export const MAX_LOGIN_CHALLENGE_BYTES = 1024;

const NONCE = /^[A-Za-z0-9_-]{43}$/;
const EXPIRY = /^[1-9]\d{12,14}$/;
const ORIGIN = /^https?:\/\/[^\s/?#@]+$/;
/** Printable ASCII and line feeds, so that the displayed text is the signed text. */
const PLAIN_TEXT = /^[\x20-\x7e\n]*$/;

export interface LoginChallenge {
  /** Origins at which clients reach the issuing server. Empty = unknown. */
  readonly origins: readonly string[];
  /** 32 random bytes in base64url. */
  readonly nonce: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

type LoginChallengeVerdict =
  | { readonly kind: 'challenge'; readonly challenge: LoginChallenge }
  /** This program does not support the version. */
  | { readonly kind: 'other-version' }
  | { readonly kind: 'other-form' };

/** The text that a client signs (contract, Sign-up and login with a device key). */
export function writeLoginChallenge({ origins, nonce, expiresAt }: LoginChallenge): string {
  return [LOGIN_CHALLENGE_VERSION, origins.join(' '), nonce, String(expiresAt)].join('\n');
}

export function fitsLoginChallenge(origins: readonly string[]): boolean {
  const longest = { origins, nonce: 'A'.repeat(43), expiresAt: 999_999_999_999_999 };
  return writeLoginChallenge(longest).length <= MAX_LOGIN_CHALLENGE_BYTES;
}

/** Refuses any text that {@link writeLoginChallenge} cannot produce. */
export function readLoginChallenge(text: string): LoginChallengeVerdict {
  if (text.length > MAX_LOGIN_CHALLENGE_BYTES || !PLAIN_TEXT.test(text)) {
    return { kind: 'other-form' };
  }
  const [version = '', originLine = '', nonce = '', expiry = '', ...more] = text.split('\n');
  if (version !== LOGIN_CHALLENGE_VERSION) {
    return { kind: /^gatehouse-login-v\d+$/.test(version) ? 'other-version' : 'other-form' };
  }
  const origins = originLine === '' ? [] : originLine.split(' ');
  const isWellFormed =
    more.length === 0 &&
    NONCE.test(nonce) &&
    EXPIRY.test(expiry) &&
    origins.every((origin) => ORIGIN.test(origin));
  return isWellFormed
    ? { kind: 'challenge', challenge: { origins, nonce, expiresAt: Number(expiry) } }
    : { kind: 'other-form' };
}
