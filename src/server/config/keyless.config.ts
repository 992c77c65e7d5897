import { PROVIDER_LIST, namespaceOf, variablesOf, type ValuesOf } from './environment/variable.js';

const keyless = variablesOf('Keyless accounts');

export const KEYLESS_VARIABLES = {
  SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED: keyless.offByDefault(
    'Allows accounts without device keys. Needs the storage policy optional or plaintext_only.',
  ),
  SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_ENABLED: keyless.offByDefault(
    'Allows login to a keyless account through an identity provider.',
  ),
  SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS: keyless(
    PROVIDER_LIST,
    'Identity providers allowed for keyless login. Empty = none.',
  ),
  SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_AUTO_PROVISION: keyless.offByDefault(
    'Creates a keyless account at the first keyless login.',
  ),
};

export const keylessConfig = namespaceOf(
  'keyless',
  ({ values }: { readonly values: ValuesOf<typeof KEYLESS_VARIABLES> }) => ({
    accountsEnabled: values.SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED,
    oauth: {
      enabled: values.SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_ENABLED,
      providers: values.SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS,
      autoProvision: values.SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_AUTO_PROVISION,
    },
  }),
);

export type KeylessSettings = ReturnType<typeof keylessConfig>;
