import type { ConfigurationError } from '../configuration-error.js';
import { resolveSettings } from '../resolve-settings.js';

describe('resolveSettings judges unknown names', () => {
  it.each([
    ['AUTH_ANONYMOUS_SIGNUP_ENABLE', 'AUTH_ANONYMOUS_SIGNUP_ENABLED'],
    ['AUTH_ANONYMOUS_SIGNUP', 'AUTH_ANONYMOUS_SIGNUP_ENABLED'],
    ['AUTH_REQUIRED_PROVIDERS', 'AUTH_REQUIRED_LOGIN_PROVIDERS'],
    ['auth_signup_providers', 'AUTH_SIGNUP_PROVIDERS'],
    ['SERVICE_FEATURE_AUTH_OAUTH_KEYLESS_ENABLED', 'SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_ENABLED'],
    ['SERVICE_MASTER_SECRET_FIL', 'SERVICE_MASTER_SECRET_FILE'],
    ['GITHUB_CLIENTID', 'GITHUB_CLIENT_ID'],
  ])('%s is refused and %s named', (name, meant) => {
    expect(() => resolveSettings({ [name]: 'x' })).toThrow(
      expect.objectContaining<Partial<ConfigurationError>>({
        problems: [
          { variable: name, message: `is not a variable of this server; did you mean ${meant}?` },
        ],
      }),
    );
  });

  it.each(['AUTH_SERVICE_HOST', 'SERVICE_NONSENSE', 'AUTH_TOKEN_ALGORITHM'])(
    '%s is a warning',
    (name) => {
      expect(resolveSettings({ [name]: 'x' }).warnings).toEqual([expect.stringContaining(name)]);
    },
  );

  it.each(['GITHUB_ACTIONS', 'GITHUB_TOKEN', 'GITHUB_BASE_REF', 'PATH', 'constructor'])(
    '%s is nothing',
    (name) => {
      expect(resolveSettings({ [name]: 'x' }).warnings).toEqual([]);
    },
  );
});
