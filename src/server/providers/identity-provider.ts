import type { EligibilityFacts } from '../../core/policy/eligibility/eligibility.js';
import type { LoginNeededReason } from '../../core/policy/eligibility/offboarding.js';

export interface ProviderProfile {
  /** The provider's permanent identifier, never assigned to another user. */
  readonly subject: string;
  readonly facts: EligibilityFacts;
}

/** A refresh token, for example; opaque outside the provider. */
export type ProviderCredentials = string;

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
  /** The claim `sid`, which a logout token may name; null = none. */
  readonly providerSession: string | null;
}

export type ExchangeRefusal = 'access_denied' | 'invalid_response' | 'upstream_error';

interface ProviderErrorOptions extends ErrorOptions {
  /** The error code of the provider, or what of its answer was refused. Never text of an answer. */
  readonly detail?: string | null;
}

/** The only error a provider throws; details of the upstream stay in its cause, for the log. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly detail: string | null;

  constructor(
    readonly refusal: ExchangeRefusal,
    { detail = null, ...options }: ProviderErrorOptions = {},
  ) {
    super(`The identity provider's answer was refused: ${refusal}`, options);
    this.detail = detail;
  }
}

export interface RecheckSubject {
  readonly subject: string;
  readonly login: string | null;
  readonly credentials: ProviderCredentials | null;
  /** Stores rotated credentials; called before the old ones are dropped. */
  readonly saveCredentials: (credentials: ProviderCredentials) => Promise<void>;
}

/** Unknown is not a refusal: only policy turns it into one, in strict mode. */
export type Recheck =
  | { readonly outcome: 'profile'; readonly profile: ProviderProfile }
  | { readonly outcome: 'gone'; readonly reason: string }
  /** The last login brought nothing to ask with, or it has expired. */
  | { readonly outcome: 'login_needed'; readonly reason: LoginNeededReason }
  | {
      readonly outcome: 'unknown';
      /** The `UpstreamFailure`, if the upstream failed. */
      readonly reason: string;
      readonly retryAfterMs?: number;
      /** An error code, for the log. */
      readonly detail?: string;
    };

/** One conformance suite runs on all providers. */
export interface IdentityProvider {
  readonly id: string;
  /** @throws ProviderError `upstream_error` */
  authorizationUrl(request: AuthorizationRequest): Promise<URL>;
  /** @throws ProviderError */
  exchange(callback: URL, request: AuthorizationRequest): Promise<Exchange>;
  /** Checks a user again. Upstream failures are outcomes, never thrown. */
  recheck(subject: RecheckSubject, signal: AbortSignal): Promise<Recheck>;
}

export interface ClientKeyPublisher {
  /** @returns null with another authentication */
  clientKeys(): Promise<readonly object[] | null>;
}

export function isClientKeyPublisher(provider: object): provider is ClientKeyPublisher {
  return 'clientKeys' in provider;
}

export interface DiagnosisStep {
  readonly step: 'discovery' | 'keys' | 'client' | 'refresh-token' | 'app' | 'directory';
  readonly severity: 'ok' | 'warning' | 'error';
  /** The `UpstreamFailure`, if the upstream failed; null otherwise. */
  readonly cause: string | null;
  readonly message: string;
}

export interface Diagnosable {
  /** Sends requests to the upstream. Its failures are steps, never thrown. */
  diagnose(): Promise<readonly DiagnosisStep[]>;
}

/** A verified logout token. It names a subject, a session, or both. */
export interface LogoutNotice {
  readonly subject: string | null;
  /** The provider's session, as in {@link Exchange}. */
  readonly providerSession: string | null;
  /** The `jti` of the token, which is accepted once. */
  readonly tokenId: string;
  readonly issuer: string;
}

/** Older logout tokens are refused, regardless of their expiry. */
export const MAX_LOGOUT_TOKEN_AGE_SECONDS = 300;

/** A provider that sends logout tokens (OpenID Connect Back-Channel Logout 1.0). */
export interface LogoutNotifier {
  /** @throws an error of jose, TypeError or UpstreamError for a token of another kind or client */
  verifyLogoutToken(token: string): Promise<LogoutNotice>;
}

export function isLogoutNotifier(provider: object): provider is LogoutNotifier {
  return 'verifyLogoutToken' in provider;
}
