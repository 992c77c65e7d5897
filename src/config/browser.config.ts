import {
  namespaceOf,
  PROVIDER_ID_PATTERN,
  type Variable,
  variablesOf,
} from './environment/variable.js';
import type { Values } from './environment/env.js';
import { hostsAccountPage, withoutTrailingSlash, type AccountPageValues } from './http.config.js';
import type { ReturnAddressFacts } from '../policy/flow/return-address.js';

const oauthReturn = variablesOf('OAuth return address');
const clientHint = variablesOf('Client hints');

/** Where browsers return after a login, and what clients may do for them. */
export const BROWSER_VARIABLES = {
  SERVICE_WEBAPP_URL: oauthReturn(
    { type: 'url', default: null },
    'Web app to which the browser returns after OAuth, at `/oauth/<provider>`. Empty = the page this server hosts, at SERVICE_PUBLIC_URL; without either, OAuth is answered `oauth-not-configured`.',
  ),
  SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE: oauthReturn(
    { type: 'url', default: null },
    'Base of the return address; `/<provider>` is added. Wins over SERVICE_WEBAPP_URL; often a deep link.',
  ),
  SERVICE_OAUTH_RETURN_ALLOWED_SCHEMES: oauthReturn(
    {
      type: 'csv',
      default: [],
      pattern: /^[a-z][a-z0-9+.-]*$/,
      shape: 'a scheme without ://, such as myapp',
      lowerCase: true,
    },
    'Schemes a return address may have beyond https (and http on a loopback host).',
  ),
  SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_ENABLED: clientHint(
    { type: 'boolean', default: false },
    'Makes clients start at one provider instead of showing a choice.',
  ),
  SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_PROVIDER_ID: clientHint(
    {
      type: 'string',
      default: null,
      pattern: PROVIDER_ID_PATTERN,
      shape: 'a provider id, or mtls',
    },
    'The provider (or mtls) for the automatic redirect.',
  ),
} as const satisfies Record<string, Variable>;

export type ReturnAddressValues = AccountPageValues & Pick<Values, 'SERVICE_PUBLIC_URL'>;

/** What the address that browsers return to is made of. */
export function returnAddressFacts(values: ReturnAddressValues): ReturnAddressFacts {
  return {
    webappUrl: withoutTrailingSlash(values.SERVICE_WEBAPP_URL),
    returnUrlBase: withoutTrailingSlash(values.SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE),
    hostedUrl: hostsAccountPage(values) ? withoutTrailingSlash(values.SERVICE_PUBLIC_URL) : null,
  };
}

/** Where browsers return after a login through a provider. */
export const oauthReturnConfig = namespaceOf('oauthReturn', ({ values }) => ({
  ...returnAddressFacts(values),
  allowedSchemes: values.SERVICE_OAUTH_RETURN_ALLOWED_SCHEMES,
  /** Whether they may return to a program on the browser's computer. */
  loopbackEnabled: values.AUTH_LOOPBACK_RETURN_ENABLED,
}));

export const uiConfig = namespaceOf('ui', ({ values }) => ({
  autoRedirect: {
    enabled: values.SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_ENABLED,
    providerId: values.SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_PROVIDER_ID,
  },
}));
