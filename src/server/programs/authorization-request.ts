import { AppError, invalidRequest } from '../../common/errors.js';

/** A request as it is stored until the person answers it. */
export interface AuthorizationRequest {
  readonly client: { readonly id: string; readonly name: string };
  readonly redirectUri: string;
  /** The id of the configured backend. */
  readonly resourceServer: string;
  readonly scopes: readonly string[];
  /** Exactly as it was sent; null = none. */
  readonly state: string | null;
  readonly codeChallenge: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/** Parameters that a request may have once (RFC 6749, 3.1). */
const SINGLE = [
  ...(['client_id', 'redirect_uri', 'response_type', 'state', 'scope'] as const),
  ...(['code_challenge', 'code_challenge_method', 'resource'] as const),
] as const;

export type AuthorizationParameters = Partial<Record<(typeof SINGLE)[number], string>>;

const LONGEST = { client_id: 512, redirect_uri: 2048, state: 2048, scope: 2048, resource: 2048 };

/**
 * Reads the parameters; one without a value counts as absent.
 * @returns null where one of them is repeated or too long
 */
export function readParameters(query: URLSearchParams): AuthorizationParameters | null {
  const parameters: Partial<Record<(typeof SINGLE)[number], string>> = {};
  for (const name of SINGLE) {
    const [value = '', ...more] = query.getAll(name);
    const longest = Object.hasOwn(LONGEST, name) ? LONGEST[name as keyof typeof LONGEST] : 128;
    if (more.length > 0 || value.length > longest) {
      return null;
    }
    if (value !== '') {
      parameters[name] = value;
    }
  }
  return parameters;
}

/** @throws AppError `invalid-request` where the challenge is not one of S256 (RFC 7636, 4.2) */
export function challengeOf(parameters: AuthorizationParameters): string {
  const { code_challenge: challenge = '', code_challenge_method: method } = parameters;
  if (method !== 'S256' || !/^[A-Za-z0-9_-]{43}$/.test(challenge)) {
    throw invalidRequest('code_challenge', 'Send a code challenge of the method S256.');
  }
  return challenge;
}

/** An empty path and `/` of a resource are the same here. */
export function isResource(configured: string, asked: string): boolean {
  return configured === asked || (asked.endsWith('/') && configured === asked.slice(0, -1));
}

/** Adds the answer to the address of the program (RFC 6749, 4.1.2; RFC 9207). */
export function answerAddress(
  redirectUri: string,
  issuer: string,
  state: string | null,
  answer: Readonly<Record<string, string>>,
): string {
  const url = new URL(redirectUri);
  const all = { ...answer, ...(state !== null && { state }), iss: issuer };
  // The program's own query stays as it is: appending to `searchParams` would encode it again.
  url.search = [url.search.slice(1), String(new URLSearchParams(all))].filter(Boolean).join('&');
  return url.href;
}

export function requireParameter(value: string | undefined, name: string): string {
  if (value === undefined) {
    throw invalidRequest(name, `Send ${name} exactly once.`);
  }
  return value;
}

export function isAppError(error: unknown): error is AppError {
  return error instanceof AppError;
}
