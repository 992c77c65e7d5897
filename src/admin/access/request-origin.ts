import type { FastifyRequest } from 'fastify';
import { AppError } from '../../common/errors.js';

/** Pages on other origins cannot send it without a preflight, which is never granted. */
export const ADMIN_REQUEST_HEADER = 'x-gatehouse-admin';

/**
 * Refuses what a page on another origin made a browser send, also where its credentials (a cookie, a
 * certificate) are good.
 *
 * @param publicUrl the address of the port as browsers know it; null = what the request names
 * @param isAmbient whether the browser adds the credentials by itself
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
  // A GET changes nothing, and nothing that it answers can be read by another origin.
  const needsHeader = isAmbient && request.method !== 'GET';
  const lacksHeader = needsHeader && request.headers[ADMIN_REQUEST_HEADER] === undefined;
  if (isForeignHost || isForeignOrigin || isForeignSite || lacksHeader) {
    throw new AppError('origin-not-allowed');
  }
}
