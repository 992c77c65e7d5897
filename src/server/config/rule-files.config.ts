import { loginAddresses } from './browser.config.js';
import { namespaceOf, type ValuesOf } from './environment/variable.js';
import type { AccountPageValues } from './http.config.js';
import type { MTLS_VARIABLES } from './mtls.config.js';
import type { PROVIDER_VARIABLES } from './providers.config.js';

type RuleFileValues = ValuesOf<typeof PROVIDER_VARIABLES & typeof MTLS_VARIABLES> &
  AccountPageValues;

/** Inputs of the files with rules, which are read again when they change. */
export const ruleFilesConfig = namespaceOf(
  'ruleFiles',
  ({ values }: { values: RuleFileValues }) => ({
    paths: [values.AUTH_PROVIDERS_CONFIG_PATH, values.SERVICE_FEATURE_AUTH_MTLS__RULES_PATH].filter(
      (path) => path !== null,
    ),
    addresses: loginAddresses(values),
    values: {
      AUTH_PROVIDERS_CONFIG_PATH: values.AUTH_PROVIDERS_CONFIG_PATH,
      AUTH_PROVIDERS_CONFIG_JSON: values.AUTH_PROVIDERS_CONFIG_JSON,
      SERVICE_FEATURE_AUTH_MTLS__RULES_PATH: values.SERVICE_FEATURE_AUTH_MTLS__RULES_PATH,
      SERVICE_FEATURE_AUTH_MTLS__IDENTITY_SOURCE: values.SERVICE_FEATURE_AUTH_MTLS__IDENTITY_SOURCE,
      SERVICE_FEATURE_AUTH_MTLS__ALLOWED_ISSUERS: values.SERVICE_FEATURE_AUTH_MTLS__ALLOWED_ISSUERS,
      SERVICE_FEATURE_AUTH_MTLS__ALLOWED_EMAIL_DOMAINS:
        values.SERVICE_FEATURE_AUTH_MTLS__ALLOWED_EMAIL_DOMAINS,
    },
  }),
);

export type RuleFilesConfig = ReturnType<typeof ruleFilesConfig>;
