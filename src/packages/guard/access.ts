import { holderIn, type Holder } from './programs.js';

/** A session that may use the backend, as its access token describes it. */
export interface Access extends Holder {
  /** Id of the account (`sub`). */
  readonly account: string;
  /** Id of the session at this backend. It never returns after it has ended. */
  readonly sid: string;
  /** `device-key`, `mtls` or the id of an identity provider. */
  readonly loginMethod: string;
  /** Names of the person; null unless the configuration of the backend asks for them. */
  readonly login: string | null;
  readonly email: string | null;
  /** Time of the login; null where the token does not have it. */
  readonly authenticatedAt: Date | null;
  /** End of the token. */
  readonly expiresAt: Date;
  /** End of the session. */
  readonly sessionExpiresAt: Date;
}

/** Returns false also for an access whose times are texts: it was stored as JSON. */
export function isAccess(value: unknown): value is Access {
  const { sid, expiresAt, sessionExpiresAt } = (value ?? {}) as Partial<Record<string, unknown>>;
  return isText(sid) && expiresAt instanceof Date && sessionExpiresAt instanceof Date;
}

/** Claims that every access token must have. */
export const REQUIRED_CLAIMS = 'sub sid client_id iat exp session_exp login_method'.split(' ');

/** The longest life of an access token: the memory of ended sessions covers it. */
export const MAX_TOKEN_SECONDS = 900;
/** The clocks of the issuer and of this machine may differ by so much. */
export const MAX_SKEW_SECONDS = 60;

/** Facts that a token is compared with. */
export interface Expectation {
  readonly issuer: string;
  readonly resource: string;
  /** Unix milliseconds. */
  readonly now: number;
}

/** Returns the access in verified claims, or the reason why they are not for this backend and time. */
export function accessFrom(
  claims: Readonly<Record<string, unknown>>,
  expected: Expectation,
): Access | string {
  const session = sessionIn(claims, expected);
  if (typeof session === 'string') {
    return session;
  }
  const holder = holderIn(claims);
  return typeof holder === 'string' ? holder : { ...session, ...holder };
}

function sessionIn(
  claims: Readonly<Record<string, unknown>>,
  { issuer, resource, now }: Expectation,
): Omit<Access, keyof Holder> | string {
  const { iss, aud, sub, sid, login_method: loginMethod } = claims;
  const { iat, exp, session_exp: sessionExp, auth_time: authTime } = claims;
  if (iss !== issuer) {
    return `its issuer is not ${issuer}`;
  }
  if (aud !== resource) {
    return `its audience is not ${resource} alone`;
  }
  if (!isText(sub) || !isText(sid) || !isText(loginMethod)) {
    return 'its account, session or login method is not a text';
  }
  if (!isSeconds(iat) || !isSeconds(exp) || !isSeconds(sessionExp)) {
    return 'its times are not numbers of seconds';
  }
  if (iat * 1000 > now + MAX_SKEW_SECONDS * 1000) {
    return 'it was issued later than now: the clocks differ';
  }
  if (exp - iat > MAX_TOKEN_SECONDS) {
    return `it is valid for more than ${MAX_TOKEN_SECONDS} seconds`;
  }
  if (Math.min(exp, sessionExp) * 1000 <= now) {
    return 'its session has expired';
  }
  return {
    account: sub,
    sid,
    loginMethod,
    login: textOrNull(claims['login']),
    email: textOrNull(claims['email']),
    authenticatedAt: isSeconds(authTime) ? new Date(authTime * 1000) : null,
    expiresAt: new Date(exp * 1000),
    sessionExpiresAt: new Date(sessionExp * 1000),
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 256;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Seconds that a `Date` can hold. */
function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && Math.abs(value) <= 8.64e12;
}
