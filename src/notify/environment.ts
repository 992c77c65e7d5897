import { buildPreviews, type BuildPreviews } from '../client/notifications/notification-display.js';

/**
 * A release's build makes the first a constant: no environment turns it into a development build.
 */
export function requestPreviewsOfBuild(): BuildPreviews {
  return buildPreviews({
    isDevelopmentBuild: process.env.GATEHOUSE_RELEASE_BUILD !== 'true',
    variables: { CLIENT_PUBLIC_REQUEST_PREVIEWS: process.env.CLIENT_PUBLIC_REQUEST_PREVIEWS },
  });
}

/** Returns true if the environment names a proxy for HTTP or HTTPS, in the variables that undici reads. */
export function isProxyConfigured(): boolean {
  const { http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY } = process.env;
  return [http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY].some((url) => (url ?? '') !== '');
}
