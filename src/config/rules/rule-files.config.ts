import {
  readCertificateRules,
  type CertificateAllowRules,
  type CertificateRulesValues,
} from './certificate-rules.js';
import { ConfigurationError, ConfigurationReport } from '../configuration-error.js';
import type { Values } from '../environment/env.js';
import { namespaceOf } from '../environment/variable.js';
import type { OidcProviderSettings } from '../providers.config.js';
import { readOidcProviders, type ProvidersFileValues } from '../providers-file/providers-file.js';

type RuleFileValues = ProvidersFileValues & CertificateRulesValues;

/** What the files with rules are read with, again when they change. */
export const ruleFilesConfig = namespaceOf('ruleFiles', ({ values }) => ({
  /** Of the providers file and of the file of certificate rules, those that are set. */
  paths: [values.AUTH_PROVIDERS_CONFIG_PATH, values.SERVICE_FEATURE_AUTH_MTLS__RULES_PATH].filter(
    (path) => path !== null,
  ),
  values: valuesFor(values),
}));

function valuesFor(values: Values): RuleFileValues {
  return {
    AUTH_PROVIDERS_CONFIG_PATH: values.AUTH_PROVIDERS_CONFIG_PATH,
    AUTH_PROVIDERS_CONFIG_JSON: values.AUTH_PROVIDERS_CONFIG_JSON,
    SERVICE_PUBLIC_URL: values.SERVICE_PUBLIC_URL,
    SERVICE_WEBAPP_URL: values.SERVICE_WEBAPP_URL,
    SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE: values.SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE,
    SERVICE_ACCOUNT_PAGE_ENABLED: values.SERVICE_ACCOUNT_PAGE_ENABLED,
    SERVICE_FEATURE_AUTH_MTLS__RULES_PATH: values.SERVICE_FEATURE_AUTH_MTLS__RULES_PATH,
    SERVICE_FEATURE_AUTH_MTLS__IDENTITY_SOURCE: values.SERVICE_FEATURE_AUTH_MTLS__IDENTITY_SOURCE,
    SERVICE_FEATURE_AUTH_MTLS__ALLOWED_ISSUERS: values.SERVICE_FEATURE_AUTH_MTLS__ALLOWED_ISSUERS,
    SERVICE_FEATURE_AUTH_MTLS__ALLOWED_EMAIL_DOMAINS:
      values.SERVICE_FEATURE_AUTH_MTLS__ALLOWED_EMAIL_DOMAINS,
  };
}

export interface RuleFiles {
  readonly providers: readonly OidcProviderSettings[];
  readonly certificates: CertificateAllowRules;
}

/** @throws ConfigurationError with all problems of the files */
export function readRuleFiles(values: RuleFileValues): RuleFiles {
  const report = new ConfigurationReport();
  const providers = readOidcProviders(values, report);
  const certificates = readCertificateRules(values, report);
  if (report.problems.length > 0) {
    throw new ConfigurationError(report.problems);
  }
  return { providers, certificates };
}
