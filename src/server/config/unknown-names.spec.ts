import type { ConfigurationError } from './environment/configuration-error.js';
import { resolveSettings } from './resolve-settings.js';

describe('resolveSettings, with unknown names', () => {
  it.each([
    ['AUTH_ANONYMOUS_SIGNUP_ENABLE', 'AUTH_ANONYMOUS_SIGNUP_ENABLED'],
    ['AUTH_ANONYMOUS_SIGNUP', 'AUTH_ANONYMOUS_SIGNUP_ENABLED'],
    ['AUTH_REQUIRED_PROVIDERS', 'AUTH_REQUIRED_LOGIN_PROVIDERS'],
    ['auth_signup_providers', 'AUTH_SIGNUP_PROVIDERS'],
    ['SERVICE_FEATURE_AUTH_OAUTH_KEYLESS_ENABLED', 'SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_ENABLED'],
    ['SERVICE_MASTER_SECRET_FIL', 'SERVICE_MASTER_SECRET_FILE'],
    ['GITHUB_CLIENTID', 'GITHUB_CLIENT_ID'],
    ['METRICS_TOKENS', 'METRICS_TOKEN'],
    ['ADMIN_TRUSTED_PROXYES', 'ADMIN_TRUSTED_PROXIES'],
    ['ADMIN_LOGIN_OPERATE_GROUP', 'ADMIN_LOGIN_OPERATE_GROUPS'],
    ['AUDIT_REFUSED_LOGIN_DAYS', 'AUDIT_REFUSED_LOGINS_DAYS'],
    // Only a secret has a file.
    ['AUTH_REQUIRED_LOGIN_PROVIDERS_FILE', 'AUTH_REQUIRED_LOGIN_PROVIDERS'],
    ['SERVICE_TRUSTED_PROXIES_FILE', 'SERVICE_TRUSTED_PROXIES'],
  ])('refuses %s and names %s', (name, meant) => {
    expect(() => resolveSettings({ [name]: 'x' })).toThrow(
      expect.objectContaining<Partial<ConfigurationError>>({
        problems: [
          { variable: name, message: `is not a variable of this server; did you mean ${meant}?` },
        ],
      }),
    );
  });

  it.each(['AUTH_SERVICE_HOST', 'SERVICE_NONSENSE', 'AUTH_TOKEN_ALGORITHM'])(
    'warns of %s',
    (name) => {
      expect(resolveSettings({ [name]: 'x' }).warnings).toEqual([expect.stringContaining(name)]);
    },
  );

  it.each([
    'GITHUB_ACTIONS',
    'GITHUB_TOKEN',
    'GITHUB_BASE_REF',
    'ADMIN_EMAIL',
    'PATH',
    'constructor',
  ])('ignores %s', (name) => {
    expect(resolveSettings({ [name]: 'x' }).warnings).toEqual([]);
  });
});
