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

/** The variables of the command for the options of `ExpoSender`. */
export const PUSH_SERVICE_VARIABLES = {
  baseUrl: 'EXPO_BASE_URL',
  accessToken: 'EXPO_ACCESS_TOKEN',
} as const;

type PushServiceOption = keyof typeof PUSH_SERVICE_VARIABLES;

/** Returns the option that no request can use, and why; null where all are valid. */
export function pushServiceProblem({
  baseUrl,
  accessToken,
}: {
  readonly [Option in PushServiceOption]?: string | undefined;
}): { readonly option: PushServiceOption; readonly message: string } | null {
  if (baseUrl !== undefined && !/^https?:\/\//i.test(URL.canParse(baseUrl) ? baseUrl : '')) {
    const message = 'must be an address that starts with https:// or http://.';
    return { option: 'baseUrl', message };
  }
  return accessToken === undefined || /^[\x21-\x7e]+$/.test(accessToken.trim())
    ? null
    : { option: 'accessToken', message: 'holds characters that no token has.' };
}

/** Returns true if the environment names a proxy for HTTP or HTTPS, in the variables that undici reads. */
export function isProxyConfigured(): boolean {
  const { http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY } = process.env;
  return [http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY].some((url) => (url ?? '') !== '');
}
