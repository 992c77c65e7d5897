import {
  buildPreviews,
  registersPushToken,
  type BuildPreviews,
} from '../client/notifications/notification-display.js';

/**
 * A release's build makes the first a constant: no environment turns it into a development build.
 */
export function requestPreviewsOfBuild(): BuildPreviews {
  return buildPreviews({
    isDevelopmentBuild: process.env.GATEHOUSE_RELEASE_BUILD !== 'true',
    variables: { CLIENT_PUBLIC_REQUEST_PREVIEWS: process.env.CLIENT_PUBLIC_REQUEST_PREVIEWS },
  });
}

/** Returns true if this build saves push tokens (specification, Events 11). */
export function savesPushTokensOfBuild(): boolean {
  const { CLIENT_PUBLIC_ENABLE_DEV_PUSH_TOKEN_REGISTRATION } = process.env;
  return registersPushToken({
    isDevelopmentBuild: process.env.GATEHOUSE_RELEASE_BUILD !== 'true',
    variables: { CLIENT_PUBLIC_ENABLE_DEV_PUSH_TOKEN_REGISTRATION },
  });
}

/** Hosts outside the public internet that the senders of this user may connect to. */
export const PRIVATE_HOSTS_VARIABLE = 'GATEHOUSE_PRIVATE_HOSTS';

export function privateHostsIn(
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  return (environment[PRIVATE_HOSTS_VARIABLE] ?? '').split(/[\s,]+/).filter((one) => one !== '');
}

/** Returns true if the environment names a proxy for HTTP or HTTPS, in the variables that undici reads. */
export function isProxyConfigured(): boolean {
  const { http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY } = process.env;
  return [http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY].some((url) => (url ?? '') !== '');
}
