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

/** Parameters that a request may have once (RFC 6749, 3.1); any other is ignored. */
const SINGLE = [
  ...(['client_id', 'redirect_uri', 'response_type', 'response_mode', 'state', 'scope'] as const),
  ...(['code_challenge', 'code_challenge_method', 'resource', 'prompt'] as const),
] as const;

type ParameterName = (typeof SINGLE)[number];

export type AuthorizationParameters = Partial<Record<ParameterName, string>>;

const LONGEST_CLIENT_ID = 512;
const LONGEST = 2048;

/** Parameters as they were sent. */
export interface SentParameters {
  readonly parameters: AuthorizationParameters;
  /** Repeated parameters, which have no value, and those that are too long. */
  readonly refused: readonly ParameterName[];
}

/** Reads the parameters; one without a value counts as absent. */
export function readParameters(query: URLSearchParams): SentParameters {
  const parameters: AuthorizationParameters = {};
  const refused: ParameterName[] = [];
  for (const name of SINGLE) {
    const [value = '', ...more] = query.getAll(name);
    if (more.length > 0 || value.length > (name === 'client_id' ? LONGEST_CLIENT_ID : LONGEST)) {
      refused.push(name);
    }
    if (more.length === 0 && value !== '') {
      parameters[name] = value;
    }
  }
  return { parameters, refused };
}

/** @throws AppError `invalid-request` where one of these parameters is repeated or too long */
export function checkSent(
  { refused }: SentParameters,
  names: readonly ParameterName[] = SINGLE,
): void {
  const found = names.find((name) => refused.includes(name));
  if (found !== undefined) {
    throw invalidRequest(found, `Send ${found} once, with at most ${LONGEST} characters.`);
  }
}

/**
 * Refuses a request for an answer that this server does not give.
 * @throws AppError `invalid-request`, `unsupported-response-type` (RFC 6749, 4.1.2.1),
 *   `interaction-required` for a request that forbids the page (OpenID Connect Core, 3.1.2.6)
 */
export function checkAnswerType(parameters: AuthorizationParameters): void {
  const type = requireParameter(parameters.response_type, 'response_type');
  if (type !== 'code') {
    throw new AppError('unsupported-response-type');
  }
  if ((parameters.response_mode ?? 'query') !== 'query') {
    throw invalidRequest('response_mode', 'Send the response mode query, or none.');
  }
  if (parameters.prompt?.split(' ').includes('none') === true) {
    throw new AppError('interaction-required');
  }
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
