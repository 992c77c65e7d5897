import {
  isAllowableScheme,
  judgeReturnAddress,
  returnAddressFor,
  type ReturnAddressFacts,
} from '../../core/policy/flow/return-address.js';
import type { AUTH_VARIABLES } from './auth.config.js';
import type { ConfigurationReport } from './environment/configuration-error.js';
import {
  PROVIDER_ID_PATTERN,
  namespaceOf,
  variablesOf,
  type Checked,
  type ValuesOf,
} from './environment/variable.js';
import { hostsAccountPage, withoutTrailingSlash, type AccountPageValues } from './http.config.js';
import type { LoginAddresses } from './providers-file/entries-file.js';

const oauthReturn = variablesOf('OAuth return address');
const clientHint = variablesOf('Client hints');

export const BROWSER_VARIABLES = {
  SERVICE_WEBAPP_URL: oauthReturn(
    { type: 'url', default: null },
    'Web app to which the browser returns after OAuth, at `/oauth/<provider>`. Empty = the account page at SERVICE_PUBLIC_URL. Without both, OAuth gets `oauth-not-configured`.',
  ),
  SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE: oauthReturn(
    { type: 'url', default: null },
    'Base of the return address, often a deep link. `/<provider>` is added. It overrides SERVICE_WEBAPP_URL.',
  ),
  SERVICE_OAUTH_RETURN_ALLOWED_SCHEMES: oauthReturn(
    {
      type: 'csv',
      default: [],
      pattern: /^[a-z][a-z0-9+.-]*$/,
      shape: 'a scheme without ://, such as myapp',
      lowerCase: true,
    },
    'Further schemes of return addresses. https is allowed, and http on a loopback host.',
  ),
  SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_ENABLED: clientHint.offByDefault(
    'Makes clients start at one provider instead of showing a choice.',
  ),
  SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_PROVIDER_ID: clientHint(
    {
      type: 'string',
      default: null,
      pattern: PROVIDER_ID_PATTERN,
      shape: 'a provider id, or mtls',
    },
    'Provider of the automatic redirect, or mtls.',
  ),
};

type OAuthReturnValues = ValuesOf<typeof BROWSER_VARIABLES & typeof AUTH_VARIABLES> &
  AccountPageValues;

function returnAddressFacts(values: AccountPageValues): ReturnAddressFacts {
  return {
    webappUrl: withoutTrailingSlash(values.SERVICE_WEBAPP_URL),
    returnUrlBase: withoutTrailingSlash(values.SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE),
    hostedUrl: hostsAccountPage(values) ? withoutTrailingSlash(values.SERVICE_PUBLIC_URL) : null,
  };
}

/** Returns the addresses that providers and browsers return to. */
export function loginAddresses(values: AccountPageValues): LoginAddresses {
  return {
    publicUrl: values.SERVICE_PUBLIC_URL,
    hasReturnAddress: returnAddressFor(returnAddressFacts(values), '') !== null,
  };
}

export const oauthReturnConfig = namespaceOf(
  'oauthReturn',
  ({ values }: { values: OAuthReturnValues }) => ({
    ...returnAddressFacts(values),
    allowedSchemes: values.SERVICE_OAUTH_RETURN_ALLOWED_SCHEMES,
    loopbackEnabled: values.AUTH_LOOPBACK_RETURN_ENABLED,
  }),
);

export type OAuthReturnSettings = ReturnType<typeof oauthReturnConfig>;

export const uiConfig = namespaceOf('ui', ({ values }: Checked<typeof BROWSER_VARIABLES>) => ({
  autoRedirect: {
    enabled: values.SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_ENABLED,
    providerId: values.SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_PROVIDER_ID,
  },
}));

export type UiSettings = ReturnType<typeof uiConfig>;

export function checkReturnAddress(
  values: OAuthReturnValues,
  providers: readonly unknown[],
  report: ConfigurationReport,
): void {
  const schemes = values.SERVICE_OAUTH_RETURN_ALLOWED_SCHEMES;
  const refused = schemes.filter((scheme) => !isAllowableScheme(scheme));
  if (refused.length > 0) {
    report.problem(
      'SERVICE_OAUTH_RETURN_ALLOWED_SCHEMES',
      `must not name ${refused.join(', ')}: such an address is never safe to return to.`,
    );
  }
  if (providers.length === 0) {
    // Only logins through a provider return to these addresses.
    return;
  }
  for (const name of ['SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE', 'SERVICE_WEBAPP_URL'] as const) {
    reportUnsafe(name, values[name], schemes, report);
  }
  const names = [
    'SERVICE_WEBAPP_URL',
    'SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE',
    'SERVICE_PUBLIC_URL',
  ];
  if (!names.some((name) => report.has(name))) {
    // The page this server hosts, where neither of the two variables is set.
    reportUnsafe('SERVICE_PUBLIC_URL', returnAddressFacts(values).hostedUrl, [], report);
  }
}

function reportUnsafe(
  name: string,
  address: string | null,
  schemes: readonly string[],
  report: ConfigurationReport,
): void {
  const verdict = address === null ? null : judgeReturnAddress(address, schemes);
  if (verdict !== null && !verdict.safe) {
    report.problem(name, `is no safe address to return to after OAuth: it ${verdict.reason}.`);
  }
}
