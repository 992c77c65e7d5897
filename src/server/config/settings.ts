import type { ConfiguredProgram } from '../../core/policy/programs/programs.js';
import { ADMIN_VARIABLES, adminConfig } from './admin.config.js';
import { AUTH_VARIABLES, authConfig } from './auth.config.js';
import { BRAND_VARIABLES, brandConfig } from './brand.config.js';
import { BROWSER_VARIABLES, oauthReturnConfig, uiConfig } from './browser.config.js';
import {
  ANSWERS_VARIABLES,
  answersConfig,
  ENCRYPTION_VARIABLES,
  encryptionConfig,
} from './encryption.config.js';
import type { Checked, ValuesOf, Variable } from './environment/variable.js';
import {
  HTTP_VARIABLES,
  httpConfig,
  RATE_LIMIT_VARIABLES,
  rateLimitsConfig,
} from './http.config.js';
import { KEYLESS_VARIABLES, keylessConfig } from './keyless.config.js';
import { auditConfig, METRICS_VARIABLES, metricsConfig } from './metrics.config.js';
import { MTLS_VARIABLES, mtlsConfig } from './mtls.config.js';
import { NETWORK_VARIABLES, networkConfig } from './network.config.js';
import type { ProviderSettings } from './providers-file/provider-settings.js';
import { PROVIDER_VARIABLES, providersConfig } from './providers.config.js';
import { ruleFilesConfig } from './rule-files.config.js';
import type { ResourceServerSettings } from './resource-servers/resource-servers-file.js';
import {
  programClientsConfig,
  RESOURCE_SERVER_VARIABLES,
  resourceServersConfig,
} from './resource-servers/resource-servers.config.js';
import type { CertificateAllowRules } from './rules/certificate-rules.js';
import { STORAGE_VARIABLES, storageConfig } from './storage.config.js';
import { UPDATES_VARIABLES, updatesConfig } from './updates.config.js';

/** Every variable of the server. Documentation, checks and types are derived from it. */
const ENV = {
  ...HTTP_VARIABLES,
  ...BRAND_VARIABLES,
  ...NETWORK_VARIABLES,
  ...STORAGE_VARIABLES,
  ...RATE_LIMIT_VARIABLES,
  ...UPDATES_VARIABLES,
  ...AUTH_VARIABLES,
  ...ENCRYPTION_VARIABLES,
  ...ANSWERS_VARIABLES,
  ...KEYLESS_VARIABLES,
  ...BROWSER_VARIABLES,
  ...PROVIDER_VARIABLES,
  ...MTLS_VARIABLES,
  ...RESOURCE_SERVER_VARIABLES,
  ...METRICS_VARIABLES,
  ...ADMIN_VARIABLES,
} as const satisfies Record<string, Variable>;

export type VariableName = keyof typeof ENV;

export type Values = ValuesOf<typeof ENV>;

export const VARIABLE_NAMES = Object.keys(ENV) as VariableName[];

export function variableOf(name: VariableName): Variable {
  return ENV[name];
}

/** Each can also be set as `NAME_FILE`. */
export const SECRET_NAMES = VARIABLE_NAMES.filter((name) => variableOf(name).secret === true);

/** Everything an operator decided: one slice for each namespace. Services inject only their own. */
export type Settings = Readonly<ReturnType<typeof buildSettings>>;

interface CheckedEnvironment extends Checked<typeof ENV> {
  readonly providers: readonly ProviderSettings[];
  readonly certificateRules: CertificateAllowRules;
  readonly resourceServers: readonly ResourceServerSettings[];
  readonly programClients: readonly ConfiguredProgram[];
}

export function buildSettings(checked: CheckedEnvironment) {
  return {
    http: httpConfig(checked),
    brand: brandConfig(checked),
    network: networkConfig(checked),
    storage: storageConfig(checked),
    auth: authConfig(checked),
    rateLimits: rateLimitsConfig(checked),
    updates: updatesConfig(checked),
    encryption: encryptionConfig(checked),
    answers: answersConfig(checked),
    keyless: keylessConfig(checked),
    mtls: mtlsConfig(checked),
    oauthReturn: oauthReturnConfig(checked),
    ui: uiConfig(checked),
    metrics: metricsConfig(checked),
    audit: auditConfig(checked),
    admin: adminConfig(checked),
    providers: providersConfig(checked),
    resourceServers: resourceServersConfig(checked),
    programClients: programClientsConfig(checked),
    ruleFiles: ruleFilesConfig(checked),
  };
}

/** Freezes a tree of plain objects and arrays in place and returns it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}
