import type { Access } from './access.js';
import type { AccessRefused, RefusalCode } from './access-refused.js';
import type { EndReason } from './held-connections.js';
import type { Requirement } from './programs.js';

/** The protected resource metadata of the backend (RFC 9728, 2). */
export interface ProtectedResourceMetadata {
  readonly resource: string;
  readonly authorization_servers: readonly string[];
  readonly bearer_methods_supported: readonly string[];
  /** Scopes that a program should ask for at first. */
  readonly scopes_supported?: readonly string[];
}

/** The part of a guard that the adapters use. */
export interface AccessGate {
  /** The document of {@link metadataUrl}. */
  readonly metadata: ProtectedResourceMetadata;
  readonly metadataUrl: string;
  /**
   * Verifies an access token. That of a program is refused unless the call names a scope.
   *
   * @param bearer the token, with or without the word `Bearer` before it
   * @throws AccessRefused
   */
  verify(bearer: string | null | undefined, requirement?: Requirement): Promise<Access>;
  /** @throws AccessRefused for a program, unless it has the scopes that the requirement names */
  requirePermission(access: Access, requirement: Requirement): void;
  /** @throws AccessRefused while no request can be admitted */
  requireReady(): void;
  /**
   * Calls `onEnd` once, when the access of a connection ends, and not within this call.
   *
   * @returns releases the connection: `onEnd` is not called afterwards
   */
  hold(access: Access, onEnd: (reason: EndReason) => void): () => void;
  /**
   * Returns the refusal of a request with a challenge for this backend.
   *
   * @param reason for the log, one of few; the answer does not have it
   * @param scope of the challenge. Default: the scope that programs ask for at first
   */
  refusal(code: RefusalCode, reason?: string, scope?: string | null): AccessRefused;
}
