import { ADMIN_VARIABLES } from './admin.config.js';
import { AUTH_VARIABLES } from './auth.config.js';
import { BRAND_VARIABLES } from './brand.config.js';
import { BROWSER_VARIABLES } from './browser.config.js';
import { ANSWERS_VARIABLES, ENCRYPTION_VARIABLES } from './encryption.config.js';
import { problemIn } from './environment/parse-variable.js';
import { HTTP_VARIABLES, RATE_LIMIT_VARIABLES } from './http.config.js';
import { KEYLESS_VARIABLES } from './keyless.config.js';
import { METRICS_VARIABLES } from './metrics.config.js';
import { MTLS_VARIABLES } from './mtls.config.js';
import { NETWORK_VARIABLES } from './network.config.js';
import { PROVIDER_VARIABLES } from './providers.config.js';
import { VARIABLE_NAMES, variableOf } from './settings.js';
import { RESOURCE_SERVER_VARIABLES } from './resource-servers/resource-servers.config.js';
import { STORAGE_VARIABLES } from './storage.config.js';
import { UPDATES_VARIABLES } from './updates.config.js';

describe('the table of variables', () => {
  it('declares each name in one group file only', () => {
    const names = [
      HTTP_VARIABLES,
      NETWORK_VARIABLES,
      STORAGE_VARIABLES,
      RATE_LIMIT_VARIABLES,
      UPDATES_VARIABLES,
      AUTH_VARIABLES,
      ANSWERS_VARIABLES,
      ENCRYPTION_VARIABLES,
      KEYLESS_VARIABLES,
      BROWSER_VARIABLES,
      PROVIDER_VARIABLES,
      MTLS_VARIABLES,
      METRICS_VARIABLES,
      ADMIN_VARIABLES,
      BRAND_VARIABLES,
      RESOURCE_SERVER_VARIABLES,
    ].flatMap((group) => Object.keys(group));
    expect(names).toHaveLength(VARIABLE_NAMES.length);
  });

  it('has defaults that its own parsers accept', () => {
    const problems = VARIABLE_NAMES.map(variableOf).flatMap((variable) =>
      variable.default === null ? [] : (problemIn(variable, variable.default) ?? []),
    );
    expect(problems).toEqual([]);
  });

  it('clamps one variable and refuses the others beyond their range', () => {
    const clamped = VARIABLE_NAMES.filter((name) => 'clamp' in variableOf(name));
    expect(clamped).toEqual(['AUTH_OFFBOARDING_INTERVAL_SECONDS']);
  });

  it.each(VARIABLE_NAMES)('describes %s in a sentence', (name) => {
    expect(variableOf(name).doc).toMatch(/^[A-Z].+\.$/);
  });
});
