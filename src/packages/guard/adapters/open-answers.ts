import type { AccessGate, ProtectedResourceMetadata } from '../access-gate.js';
import { METADATA_PATH } from '../guard-options.js';
import type { GuardedRequest } from './credentials.js';

/** An answer that needs no token. */
export interface OpenAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: ProtectedResourceMetadata;
}

/** Clients in browsers read the metadata, which has no secret. */
const SHARED = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*',
  'cache-control': 'public, max-age=3600',
};

/**
 * Returns the answer to a request of the protected resource metadata (RFC 9728, 3), and to `OPTIONS`
 * without a token, which never reaches the application; null for any other request.
 */
export function openAnswerTo(guard: AccessGate, request: GuardedRequest): OpenAnswer | null {
  const { method } = request;
  if (isMetadataPath(guard, request)) {
    if (method === 'GET' || method === 'HEAD') {
      const headers = { ...SHARED, 'content-type': 'application/json' };
      return { status: 200, headers, body: guard.metadata };
    }
    if (method === 'OPTIONS') {
      return { status: 204, headers: SHARED };
    }
  }
  return method === 'OPTIONS' && request.headers.authorization === undefined
    ? { status: 204, headers: { 'cache-control': 'no-store' } }
    : null;
}

/** Some clients of a resource with a path look at the root only. */
function isMetadataPath(guard: AccessGate, request: GuardedRequest): boolean {
  // Express cuts the path of a mounted router from `url`.
  const { originalUrl } = request as { readonly originalUrl?: string };
  const [path = ''] = (originalUrl ?? request.url ?? '').split('?');
  return path === METADATA_PATH || path === new URL(guard.metadataUrl).pathname;
}
