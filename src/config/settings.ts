import { adminConfig } from './admin.config.js';
import { authConfig } from './auth.config.js';
import { brandConfig } from './brand.config.js';
import { oauthReturnConfig, uiConfig } from './browser.config.js';
import { encryptionConfig } from './encryption.config.js';
import type { Checked } from './environment/variable.js';
import { httpConfig, rateLimitsConfig } from './http.config.js';
import { keylessConfig } from './keyless.config.js';
import { auditConfig, metricsConfig } from './metrics.config.js';
import { mtlsConfig } from './mtls.config.js';
import { networkConfig } from './network.config.js';
import { providersConfig } from './providers.config.js';
import { ruleFilesConfig } from './rules/rule-files.config.js';
import { storageConfig } from './storage.config.js';
import { updatesConfig } from './updates.config.js';

/** Everything an operator decided: one slice for each namespace. Services inject only their own. */
export type Settings = Readonly<ReturnType<typeof buildSettings>>;

/** Builds the slice of every namespace from checked values. */
export function buildSettings(checked: Checked) {
  return {
    http: httpConfig(checked),
    brand: brandConfig(checked),
    network: networkConfig(checked),
    storage: storageConfig(checked),
    auth: authConfig(checked),
    rateLimits: rateLimitsConfig(checked),
    updates: updatesConfig(checked),
    encryption: encryptionConfig(checked),
    keyless: keylessConfig(checked),
    mtls: mtlsConfig(checked),
    oauthReturn: oauthReturnConfig(checked),
    ui: uiConfig(checked),
    metrics: metricsConfig(checked),
    audit: auditConfig(checked),
    admin: adminConfig(checked),
    providers: providersConfig(checked),
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
