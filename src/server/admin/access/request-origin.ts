import type { FastifyRequest } from 'fastify';
import { AppError } from '../../../common/errors.js';

/** Pages on other origins cannot send this header without a preflight, which is never granted. */
const ADMIN_REQUEST_HEADER = 'x-gatehouse-admin';

/**
 * Refuses requests that a page on another origin caused, even with valid credentials.
 * @param publicUrl of the port in browsers; null = that of the request
 * @param isAmbient true if the browser adds the credentials by itself
 * @throws AppError `origin-not-allowed`
 */
export function requireOwnOrigin(
  request: FastifyRequest,
  publicUrl: string | null,
  isAmbient: boolean,
): void {
  const { origin, host = '', 'sec-fetch-site': site } = request.headers;
  const own = new URL(publicUrl ?? `${request.protocol}://${host}`);
  const isForeignHost = publicUrl !== null && isAmbient && host !== own.host;
  const isForeignOrigin = origin !== undefined && origin !== own.origin;
  const isForeignSite = site !== undefined && site !== 'same-origin' && site !== 'none';
  // A GET changes nothing, and other origins cannot read its answer.
  const needsHeader = isAmbient && request.method !== 'GET';
  const lacksHeader = needsHeader && request.headers[ADMIN_REQUEST_HEADER] === undefined;
  if (isForeignHost || isForeignOrigin || isForeignSite || lacksHeader) {
    throw new AppError('origin-not-allowed');
  }
}
