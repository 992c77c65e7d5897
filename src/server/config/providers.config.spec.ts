import { generateKeyPairSync } from 'node:crypto';
import { ConfigurationError } from './environment/configuration-error.js';
import type { GitHubProviderSettings } from './providers-file/provider-settings.js';
import { resolveSettings, type ResolvedConfiguration } from './resolve-settings.js';

const CLIENT = {
  GITHUB_CLIENT_ID: 'client',
  GITHUB_CLIENT_SECRET: 'secret',
  SERVICE_PUBLIC_URL: 'https://gate.acme.example',
};
const PEM = generateKeyPairSync('rsa', { modulusLength: 1024 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
const EC_PEM = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();

function githubOf(environment: Record<string, string>): GitHubProviderSettings {
  return resolveSettings(environment).settings.providers[0] as GitHubProviderSettings;
}

function refusedIn(environment: Record<string, string>): string[] {
  let resolved: ResolvedConfiguration | undefined;
  try {
    resolved = resolveSettings(environment);
  } catch (error) {
    return (error as ConfigurationError).problems.map(({ variable }) => variable);
  }
  return resolved.warnings.map((warning) => `warning ${warning.split(' ')[0]}`);
}

describe('GitHub as a provider', () => {
  it('requires only a client', () => {
    expect(githubOf(CLIENT)).toEqual({
      type: 'github',
      id: 'github',
      displayName: 'GitHub',
      isOAuthConfigured: true,
      ui: { iconHint: 'github', buttonColor: null },
      clientId: 'client',
      clientSecret: 'secret',
      clientSecretFile: null,
      redirectUrl: 'https://gate.acme.example/v1/oauth/github/callback',
      baseUrl: 'https://github.com',
      apiUrl: 'https://api.github.com',
      allowedUsers: [],
      allowedOrgs: [],
      orgMatch: 'any',
      orgMembershipSource: 'oauth_user_token',
      confirmsRemovals: true,
      webhookSecret: null,
      webhookSecretFile: null,
      app: null,
    });
  });

  it('starts without the addresses that OAuth needs, and reports them as missing', () => {
    const client = { GITHUB_CLIENT_ID: 'x', GITHUB_CLIENT_SECRET: 'x' };
    const callback = { GITHUB_REDIRECT_URL: 'https://gate.acme.example/callback' };
    const webapp = { SERVICE_WEBAPP_URL: 'https://app.acme.example' };
    expect(githubOf(client)).toMatchObject({ redirectUrl: null, isOAuthConfigured: false });
    for (const half of [callback, webapp]) {
      expect(githubOf({ ...client, ...half }).isOAuthConfigured).toBe(false);
    }
    expect(githubOf({ ...client, ...callback, ...webapp }).isOAuthConfigured).toBe(true);
  });

  it('derives the API of an Enterprise Server from its address', () => {
    const { baseUrl, apiUrl } = githubOf({
      ...CLIENT,
      GITHUB_BASE_URL: 'https://git.acme.example/',
    });
    expect([baseUrl, apiUrl]).toEqual([
      'https://git.acme.example',
      'https://git.acme.example/api/v3',
    ]);
  });

  it('authenticates as the app when one is given, its key with escaped line breaks', () => {
    const github = githubOf({
      ...CLIENT,
      AUTH_GITHUB_ALLOWED_ORGS: 'Acme,Other',
      AUTH_GITHUB_APP_ID: '123',
      AUTH_GITHUB_APP_PRIVATE_KEY: PEM.replaceAll('\n', '\\n'),
      AUTH_GITHUB_APP_INSTALLATION_ID_BY_ORG: 'Acme=1, other:2',
    });
    expect(github.orgMembershipSource).toBe('github_app');
    expect(github.allowedOrgs).toEqual(['acme', 'other']);
    expect(github.app).toEqual({
      id: '123',
      privateKey: PEM,
      installationIdByOrg: { acme: '1', other: '2' },
    });
  });

  it('reads organisations by their ids', () => {
    const github = githubOf({
      ...CLIENT,
      AUTH_GITHUB_ALLOWED_ORGS: 'id:583231, ID:583232/Platform',
      AUTH_GITHUB_APP_ID: '123',
      AUTH_GITHUB_APP_PRIVATE_KEY: PEM,
      AUTH_GITHUB_APP_INSTALLATION_ID_BY_ORG: 'id:583231=1, id:583232 : 2',
    });
    expect(github.allowedOrgs).toEqual(['id:583231', 'id:583232/platform']);
    expect(github.app?.installationIdByOrg).toEqual({ 'id:583231': '1', 'id:583232': '2' });
  });

  it('turns offboarding on for an organisation, not for a list of logins', () => {
    const enabledWith = (environment: Record<string, string>): boolean =>
      resolveSettings({ ...CLIENT, ...environment }).settings.auth.offboarding.enabled;
    expect(enabledWith({ AUTH_GITHUB_ALLOWED_ORGS: 'acme' })).toBe(true);
    expect(enabledWith({ AUTH_GITHUB_ALLOWED_USERS: 'ann' })).toBe(false);
    expect(enabledWith({ AUTH_GITHUB_ALLOWED_ORGS: 'acme', AUTH_OFFBOARDING_ENABLED: '0' })).toBe(
      false,
    );
  });

  it.each<[string, Record<string, string>, string[]]>([
    ['a client without secret', { GITHUB_CLIENT_ID: 'x' }, ['GITHUB_CLIENT_SECRET']],
    ['a secret without client', { GITHUB_CLIENT_SECRET: 'x' }, ['GITHUB_CLIENT_ID']],
    [
      'rules without a client',
      { AUTH_GITHUB_ALLOWED_ORGS: 'x' },
      ['warning AUTH_GITHUB_ALLOWED_ORGS'],
    ],
    [
      'an http server',
      { ...CLIENT, GITHUB_BASE_URL: 'http://git.acme.example' },
      ['GITHUB_BASE_URL'],
    ],
    ['an http API', { ...CLIENT, GITHUB_API_URL: 'http://git.acme.example' }, ['GITHUB_API_URL']],
    [
      'membership by an app that is not there',
      {
        ...CLIENT,
        AUTH_GITHUB_ALLOWED_ORGS: 'acme',
        AUTH_GITHUB_ORG_MEMBERSHIP_SOURCE: 'github_app',
      },
      ['AUTH_GITHUB_APP_ID'],
    ],
    ['an app without key', { ...CLIENT, AUTH_GITHUB_APP_ID: '1' }, ['AUTH_GITHUB_APP_PRIVATE_KEY']],
    [
      'an app with a key of another kind',
      { ...CLIENT, AUTH_GITHUB_APP_ID: '1', AUTH_GITHUB_APP_PRIVATE_KEY: EC_PEM },
      ['AUTH_GITHUB_APP_PRIVATE_KEY'],
    ],
    [
      'an organisation whose id is none',
      { ...CLIENT, AUTH_GITHUB_ALLOWED_ORGS: 'id:acme' },
      ['AUTH_GITHUB_ALLOWED_ORGS'],
    ],
    [
      'an organisation whose id begins with zero',
      { ...CLIENT, AUTH_GITHUB_ALLOWED_ORGS: 'id:0583231' },
      ['AUTH_GITHUB_ALLOWED_ORGS'],
    ],
    [
      'an installation that is no number',
      { ...CLIENT, AUTH_GITHUB_APP_INSTALLATION_ID_BY_ORG: 'acme=x' },
      ['AUTH_GITHUB_APP_INSTALLATION_ID_BY_ORG'],
    ],
  ])('reports %s', (_name, environment, problems) => {
    expect(refusedIn(environment)).toEqual(problems);
  });
});
