import type { EligibilityFacts } from '../policy/eligibility.js';

/** A person as the provider names them. */
export interface ProviderProfile {
  /** What the provider never changes and never gives to somebody else. */
  readonly subject: string;
  readonly facts: EligibilityFacts;
}

/** What a later re-check needs (a refresh token, say): opaque to everybody but the provider. */
export type ProviderCredentials = string;

/** One authorization, from the browser's redirect to its return. */
export interface AuthorizationRequest {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  /** PKCE, RFC 7636. */
  readonly codeVerifier: string;
}

export interface Exchange {
  readonly profile: ProviderProfile;
  readonly credentials: ProviderCredentials | null;
}

/** Why an authorization did not end in a profile. */
export type ExchangeRefusal = 'access_denied' | 'invalid_response' | 'upstream_error';

/** The only error a provider throws; everything an upstream said stays in the log's cause. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';

  constructor(
    readonly refusal: ExchangeRefusal,
    options?: ErrorOptions,
  ) {
    super(`The identity provider's answer was refused: ${refusal}`, options);
  }
}

export interface RecheckSubject {
  readonly subject: string;
  readonly login: string | null;
  readonly credentials: ProviderCredentials | null;
  /** Stores rotated credentials; called before the old ones are forgotten. */
  readonly saveCredentials: (credentials: ProviderCredentials) => Promise<void>;
}

/** Unknown is not no: only policy turns it into a refusal, and only when strict. */
export type Recheck =
  | { readonly outcome: 'profile'; readonly profile: ProviderProfile }
  | { readonly outcome: 'gone'; readonly reason: string }
  | { readonly outcome: 'unknown'; readonly reason: string; readonly retryAfterMs?: number };

/** What every identity provider can do. One conformance suite runs on all of them. */
export interface IdentityProvider {
  readonly id: string;
  /** The address to open in the browser. @throws ProviderError `upstream_error` */
  authorizationUrl(request: AuthorizationRequest): Promise<URL>;
  /** @param callback the redirect as it arrived, with its query. @throws ProviderError */
  exchange(callback: URL, request: AuthorizationRequest): Promise<Exchange>;
  /** Asks again about somebody. Never throws for what an upstream did. */
  recheck(subject: RecheckSubject, signal: AbortSignal): Promise<Recheck>;
}
