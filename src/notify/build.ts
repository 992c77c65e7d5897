import { buildPreviews } from '../client/notifications/notification-display.js';

/**
 * Whether request previews are part of the program that this library is part of. The variables are
 * read in full words, so that a bundler's `define` replaces them; without one, at run time.
 */
export function arePreviewsBuiltIn(): boolean {
  return buildPreviews({
    NODE_ENV: process.env.NODE_ENV,
    CLIENT_PUBLIC_REQUEST_PREVIEWS: process.env.CLIENT_PUBLIC_REQUEST_PREVIEWS,
  }).isBuiltIn;
}
