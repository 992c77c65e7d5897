import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { presetNames } from './read-environment.js';
import { resolveSettings } from './resolve-settings.js';
import { VARIABLE_NAMES } from './settings.js';

const OKTA = JSON.stringify([
  {
    id: 'okta',
    type: 'oidc',
    issuer: 'https://acme.okta.com',
    clientId: 'gatehouse',
    clientSecret: 'client-secret',
    allow: { groupsAny: ['engineering'] },
    storeRefreshToken: true,
    scopes: ['openid', 'groups', 'offline_access'],
  },
]);
const CONNECTED = {
  AUTH_PROVIDERS_CONFIG_JSON: OKTA,
  SERVICE_PUBLIC_URL: 'https://gate.acme.example',
};

describe('presets', () => {
  it('contains the four example deployments', () => {
    expect(presetNames()).toEqual([
      'default',
      'enterprise-keyless-only',
      'enterprise-optional-encryption',
      'public-provider-required',
    ]);
  });

  it.each(presetNames())('sets only known variables in %s', (name) => {
    const location = new URL(`../../../config/presets/${name}.env`, import.meta.url);
    const names = Object.keys(parseEnv(readFileSync(location, 'utf8')));
    expect(names.filter((variable) => !VARIABLE_NAMES.includes(variable as never))).toEqual([]);
  });

  it('equals a server without variables in the preset default', () => {
    expect(resolveSettings({ SERVICE_PRESET: 'default' })).toEqual(resolveSettings({}));
  });

  it.each(presetNames())('%s leaves nothing to find once its provider is connected', (name) => {
    const connected = name === 'default' ? { HOST: '127.0.0.1' } : CONNECTED;
    const { findings, warnings } = resolveSettings({ SERVICE_PRESET: name, ...connected });
    const faults = findings.filter(({ severity }) => severity !== 'notice');
    expect({ faults, warnings }).toEqual({ faults: [], warnings: [] });
  });

  it.each(presetNames().filter((name) => name !== 'default'))(
    'starts with %s without its provider, and reports that every account is refused',
    (name) => {
      const { findings } = resolveSettings({ SERVICE_PRESET: name });
      expect(findings).toContainEqual({
        severity: 'error',
        code: 'required-provider-not-configured',
        params: { provider: 'okta' },
        message: expect.stringContaining('okta'),
      });
    },
  );

  it('closes anonymous sign-up in the preset public-provider-required', () => {
    const { settings } = resolveSettings({
      SERVICE_PRESET: 'public-provider-required',
      ...CONNECTED,
    });
    expect(settings.auth).toMatchObject({
      anonymousSignupEnabled: false,
      signupProviders: ['okta'],
      requiredLoginProviders: ['okta'],
      offboarding: { enabled: true },
    });
    expect(settings.encryption.storagePolicy).toBe('required_e2ee');
  });

  it('stores plain text and provisions without device keys in the preset enterprise-keyless-only', () => {
    const { settings } = resolveSettings({ SERVICE_PRESET: 'enterprise-keyless-only' });
    expect(settings.auth).toMatchObject({ anonymousSignupEnabled: false, signupProviders: [] });
    expect(settings.encryption.storagePolicy).toBe('plaintext_only');
    expect(settings.keyless).toEqual({
      accountsEnabled: true,
      oauth: { enabled: true, providers: ['okta'], autoProvision: true },
    });
  });

  it('offers both kinds of account in the preset enterprise-optional-encryption', () => {
    const { settings } = resolveSettings({ SERVICE_PRESET: 'enterprise-optional-encryption' });
    expect(settings.auth).toMatchObject({
      anonymousSignupEnabled: false,
      signupProviders: ['okta'],
      requiredLoginProviders: ['okta'],
    });
    expect(settings.encryption.storagePolicy).toBe('optional');
    expect(settings.keyless.oauth.autoProvision).toBe(true);
  });

  it('prefers explicit variables', () => {
    const { settings } = resolveSettings({
      SERVICE_PRESET: 'public-provider-required',
      AUTH_REQUIRED_LOGIN_PROVIDERS: 'github',
    });
    expect(settings.auth.requiredLoginProviders).toEqual(['github']);
    expect(settings.auth.signupProviders).toEqual(['okta']);
  });
});
