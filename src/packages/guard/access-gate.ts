import type { Access } from './access.js';
import type { AccessRefused, RefusalCode } from './access-refused.js';
import type { EndReason } from './held-connections.js';

/** The protected resource metadata of the backend (RFC 9728, 2). */
export interface ProtectedResourceMetadata {
  readonly resource: string;
  readonly authorization_servers: readonly string[];
  readonly bearer_methods_supported: readonly string[];
}

/** The part of a guard that the adapters use. */
export interface AccessGate {
  /** The document of {@link metadataUrl}. */
  readonly metadata: ProtectedResourceMetadata;
  readonly metadataUrl: string;
  /**
   * Verifies an access token.
   *
   * @param bearer the token, with or without the word `Bearer` before it
   * @throws AccessRefused
   */
  verify(bearer: string | null | undefined): Promise<Access>;
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
   */
  refusal(code: RefusalCode, reason?: string): AccessRefused;
}
