import { AppError } from '../common/errors.js';
import type { Settings } from '../config/settings.js';
import type { Content } from '../policy/content.js';

/**
 * Settings may take this share of a request body, and credentials together as much: all of an
 * account, a third larger when it is encrypted, then fits into the one request that migrates it.
 */
const SHARE_OF_BODY = 3;

/** In bytes, as the content is stored. */
export function contentLimitOf({ http }: Settings): number {
  return Math.floor(http.bodyLimitBytes / SHARE_OF_BODY);
}

/**
 * @returns what the content takes up, in bytes
 * @throws AppError `payload-too-large`
 */
export function checkSize(content: Content, limit: number): number {
  const size = Buffer.byteLength(content.t === 'encrypted' ? content.c : JSON.stringify(content.v));
  if (size > limit) {
    throw new AppError('payload-too-large');
  }
  return size;
}
