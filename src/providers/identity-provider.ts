import type { EligibilityFacts } from '../policy/eligibility/eligibility.js';

/** A user as the provider describes them. */
export interface ProviderProfile {
  /** The provider's permanent identifier, never assigned to another user. */
  readonly subject: string;
  readonly facts: EligibilityFacts;
}

/** What a later re-check needs (a refresh token, for example): opaque outside the provider. */
export type ProviderCredentials = string;

/** One authorization, from the redirect to the callback. */
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
  /** The user's session at the provider (the claim `sid`), which a logout token may name; null = none. */
  readonly providerSession: string | null;
}

/** Why an authorization did not end in a profile. */
export type ExchangeRefusal = 'access_denied' | 'invalid_response' | 'upstream_error';

/** The only error a provider throws; details of the upstream stay in its cause, for the log. */
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
  /** Stores rotated credentials; called before the old ones are dropped. */
  readonly saveCredentials: (credentials: ProviderCredentials) => Promise<void>;
}

/** Unknown is not no: only policy turns it into a refusal, and only when strict. */
export type Recheck =
  | { readonly outcome: 'profile'; readonly profile: ProviderProfile }
  | { readonly outcome: 'gone'; readonly reason: string }
  | {
      readonly outcome: 'unknown';
      /** Where the upstream failed, its `UpstreamFailure`. */
      readonly reason: string;
      readonly retryAfterMs?: number;
      /** An error code, for the log. */
      readonly detail?: string;
    };

/** The contract of every identity provider. One conformance suite runs on all of them. */
export interface IdentityProvider {
  readonly id: string;
  /** The address to open in the browser. @throws ProviderError `upstream_error` */
  authorizationUrl(request: AuthorizationRequest): Promise<URL>;
  /** @param callback the redirect as it arrived, with its query. @throws ProviderError */
  exchange(callback: URL, request: AuthorizationRequest): Promise<Exchange>;
  /** Checks a user again. Upstream failures are outcomes, never thrown. */
  recheck(subject: RecheckSubject, signal: AbortSignal): Promise<Recheck>;
}

/** A provider at which this server authenticates with keys of its own. */
export interface ClientKeyPublisher {
  /** The public keys (RFC 7517); null where it authenticates in another way. */
  clientKeys(): Promise<readonly object[] | null>;
}

export function isClientKeyPublisher(provider: object): provider is ClientKeyPublisher {
  return 'clientKeys' in provider;
}

/** One step of a diagnosis, for an operator. */
export interface DiagnosisStep {
  readonly step: 'discovery' | 'keys' | 'client' | 'refresh-token' | 'app' | 'directory';
  readonly severity: 'ok' | 'warning' | 'error';
  /** Where the upstream failed, its `UpstreamFailure`; null otherwise. */
  readonly cause: string | null;
  readonly message: string;
}

/** A provider that can be tested without a user. */
export interface Diagnosable {
  /** Sends requests to the upstream. Its failures are steps, never thrown. */
  diagnose(): Promise<readonly DiagnosisStep[]>;
}

/** A verified logout token. It names a subject, a session, or both. */
export interface LogoutNotice {
  readonly subject: string | null;
  /** The provider's session, as in {@link Exchange}. */
  readonly providerSession: string | null;
  /** Its `jti`: accepted once. */
  readonly tokenId: string;
}

/** Older logout tokens are refused, whatever their expiry. */
export const MAX_LOGOUT_TOKEN_AGE_SECONDS = 300;

/** A provider that sends logout tokens (OpenID Connect Back-Channel Logout 1.0). */
export interface LogoutNotifier {
  /** @throws an error of jose, TypeError, UpstreamError: not a logout token of this provider for us */
  verifyLogoutToken(token: string): Promise<LogoutNotice>;
}

export function isLogoutNotifier(provider: object): provider is LogoutNotifier {
  return 'verifyLogoutToken' in provider;
}
