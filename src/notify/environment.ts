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

/** Whether the environment names a proxy for HTTP or HTTPS, in the variables that undici reads. */
export function isProxyConfigured(): boolean {
  const { http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY } = process.env;
  return [http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY].some((url) => (url ?? '') !== '');
}
