import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { VARIABLE_NAMES } from './environment/env.js';
import { presetNames } from './environment-sources.js';
import { resolveSettings } from './resolve-settings.js';

const OKTA = JSON.stringify([
  {
    id: 'okta',
    type: 'oidc',
    issuer: 'https://acme.okta.com',
    clientId: 'gatehouse',
    clientSecret: 'client-secret',
    allow: { groupsAny: ['engineering'] },
    storeRefreshToken: true,
  },
]);
const CONNECTED = {
  AUTH_PROVIDERS_CONFIG_JSON: OKTA,
  SERVICE_PUBLIC_URL: 'https://gate.acme.example',
};

describe('presets', () => {
  it('are the four example deployments', () => {
    expect(presetNames()).toEqual([
      'default',
      'enterprise-keyless-only',
      'enterprise-optional-encryption',
      'public-provider-required',
    ]);
  });

  it.each(presetNames())('%s sets only known variables', (name) => {
    const location = new URL(`../../config/presets/${name}.env`, import.meta.url);
    const names = Object.keys(parseEnv(readFileSync(location, 'utf8')));
    expect(names.filter((variable) => !VARIABLE_NAMES.includes(variable as never))).toEqual([]);
  });

  it('default is what a server without any variable does', () => {
    expect(resolveSettings({ SERVICE_PRESET: 'default' })).toEqual(resolveSettings({}));
  });

  it.each(presetNames())('%s leaves nothing to find once its provider is connected', (name) => {
    const connected = name === 'default' ? {} : CONNECTED;
    const { findings, warnings } = resolveSettings({ SERVICE_PRESET: name, ...connected });
    const faults = findings.filter(({ severity }) => severity !== 'notice');
    expect({ faults, warnings }).toEqual({ faults: [], warnings: [] });
  });

  it.each(presetNames().filter((name) => name !== 'default'))(
    '%s still starts without its provider, and reports that every account is refused',
    (name) => {
      const { findings } = resolveSettings({ SERVICE_PRESET: name });
      expect(findings).toContainEqual({
        severity: 'error',
        code: 'required-provider-not-configured',
        message: expect.stringContaining('okta'),
      });
    },
  );

  it('public-provider-required closes anonymous sign-up and requires the provider', () => {
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

  it('enterprise-keyless-only stores plain text and provisions without device keys', () => {
    const { settings } = resolveSettings({ SERVICE_PRESET: 'enterprise-keyless-only' });
    expect(settings.auth).toMatchObject({ anonymousSignupEnabled: false, signupProviders: [] });
    expect(settings.encryption.storagePolicy).toBe('plaintext_only');
    expect(settings.keyless).toEqual({
      accountsEnabled: true,
      oauth: { enabled: true, providers: ['okta'], autoProvision: true },
    });
  });

  it('enterprise-optional-encryption offers both kinds of account', () => {
    const { settings } = resolveSettings({ SERVICE_PRESET: 'enterprise-optional-encryption' });
    expect(settings.auth).toMatchObject({
      anonymousSignupEnabled: false,
      signupProviders: ['okta'],
      requiredLoginProviders: ['okta'],
    });
    expect(settings.encryption.storagePolicy).toBe('optional');
    expect(settings.keyless.oauth.autoProvision).toBe(true);
  });

  it('give way to explicit variables', () => {
    const { settings } = resolveSettings({
      SERVICE_PRESET: 'public-provider-required',
      AUTH_REQUIRED_LOGIN_PROVIDERS: 'github',
    });
    expect(settings.auth.requiredLoginProviders).toEqual(['github']);
    expect(settings.auth.signupProviders).toEqual(['okta']);
  });
});
