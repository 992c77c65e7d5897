import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { admissionTable, isMtlsReachable } from '../../core/policy/admission/admission.js';
import { resolveSettings } from './resolve-settings.js';
import { VARIABLE_NAMES } from './settings.js';

describe('findings about settings', () => {
  it.each([
    ['https://gate.example.com', true],
    ['https://93.184.216.34', true],
    ['https://[2606:2800:220:1::1]', true],
    ['http://localhost:3000', false],
    ['https://gate', false],
    ['https://gate.corp.internal', false],
    ['https://gate.local', false],
    ['https://gate.tail1234.ts.net', false],
    ['https://10.1.2.3', false],
    ['https://172.31.0.1', false],
    ['https://172.32.0.1', true],
    ['https://192.168.1.1', false],
    ['https://100.64.0.1', false],
    ['https://100.128.0.1', true],
    ['https://[fd00::1]', false],
    ['https://[fe80::1]', false],
  ])('reports %s as public: %s', (publicUrl, expected) => {
    const { findings } = resolveSettings({ SERVICE_PUBLIC_URL: publicUrl });
    const codes = findings.map(({ code }) => code);
    expect(codes.includes('anonymous-signup-on-public-server')).toBe(expected);
  });

  it.each([
    ['SERVICE_TRUSTED_PROXIES', '10.0.0.0/8,0.0.0.0/0'],
    ['SERVICE_FEATURE_AUTH_MTLS__TRUSTED_PROXIES', '::/0'],
  ])('sees in %s=%s that every peer is trusted', (name, text) => {
    const { findings } = resolveSettings({ HOST: '127.0.0.1', [name]: text });
    expect(findings.filter(({ severity }) => severity !== 'notice')).toEqual([
      expect.objectContaining({ severity: 'error', code: 'trusts-every-peer' }),
    ]);
  });

  it.each([
    [{}, true],
    [{ HOST: '127.0.0.1' }, false],
    [{ HOST: '::1' }, false],
    [{ HOST: '0.0.0.0' }, true],
    [{ SERVICE_PUBLIC_URL: 'http://gate.lan' }, false],
    [{ SERVICE_LOGIN_ORIGINS: 'http://gate.lan' }, false],
    [{ AUTH_KEY_CHALLENGE_ENABLED: '0' }, false],
  ])('finds that no login origin of %j is known: %s', (environment, expected) => {
    const codes = resolveSettings(environment).findings.map(({ code }) => code);
    expect(codes.includes('login-origin-unknown')).toBe(expected);
  });

  it('finds allow rules whose provider is not asked for refresh tokens', () => {
    const entry = okta({ allow: { groupsAny: ['staff'] }, scopes: ['openid'] });
    expect(codesFor({ AUTH_PROVIDERS_CONFIG_JSON: entry })).toEqual([
      'warning refresh-token-scope-missing',
    ]);
  });

  it('finds groups of Microsoft Graph that no scope asks for', () => {
    const entry = okta({
      ...{ allow: { groupsAny: ['staff'] }, entra: { graph: true } },
      scopes: ['openid', 'offline_access'],
    });
    expect(codesFor({ AUTH_PROVIDERS_CONFIG_JSON: entry })).toEqual([
      'warning graph-scope-missing',
    ]);
  });

  it.each<Record<string, string>>([
    {},
    { AUTH_KEY_CHALLENGE_ENABLED: '0', SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'optional' },
    { AUTH_ANONYMOUS_SIGNUP_ENABLED: '0', SERVICE_FEATURE_AUTH_MTLS__ENABLED: '1' },
  ])('names existing variables where the admission table of %j refuses', (environment) => {
    const table = admissionTable(resolveSettings(environment).settings);
    const names = table.flatMap(({ decision }) => (decision.isAllowed ? [] : [decision.variable]));
    expect(names).not.toEqual([]);
    expect(VARIABLE_NAMES).toEqual(expect.arrayContaining(names));
  });

  it('counts forwarded certificates as reachable only from a trusted proxy', () => {
    const forwarded = {
      SERVICE_FEATURE_AUTH_MTLS__ENABLED: '1',
      SERVICE_FEATURE_AUTH_MTLS__TRUST_FORWARDED_HEADERS: '1',
    };
    const untrusted = resolveSettings(forwarded).settings;
    const proxy = resolveSettings({
      ...forwarded,
      SERVICE_FEATURE_AUTH_MTLS__TRUSTED_PROXIES: '10.0.0.1',
    }).settings;
    expect(isMtlsReachable(untrusted.mtls)).toBe(false);
    expect(isMtlsReachable(proxy.mtls)).toBe(true);
  });

  const okta = (more: object): string =>
    JSON.stringify([
      {
        ...{ id: 'okta', type: 'oidc', issuer: 'https://acme.okta.com' },
        ...{ clientId: 'gatehouse', clientSecret: 'client-secret', storeRefreshToken: true },
        ...more,
      },
    ]);
  const codesFor = (environment: Record<string, string>): string[] =>
    resolveSettings({
      SERVICE_PUBLIC_URL: 'http://localhost:3000',
      AUTH_OFFBOARDING_ENABLED: '1',
      ...environment,
    }).findings.flatMap(({ severity, code }) =>
      severity === 'notice' ? [] : [`${severity} ${code}`],
    );

  it.each([
    [['alice'], {}, ['warning allowlist-entry-can-be-chosen']],
    [['alice'], { login: 'sub' }, []],
    [['sub:1', 'login:bob', 'email:a@acme.example', 'a@acme.example'], {}, []],
    [['a@acme.example'], { email: 'upn' }, ['warning email-rule-never-met']],
  ])('finds in the users %j with the claims %j: %j', (usersAllowlist, claims, expected) => {
    const entry = okta({ allow: { usersAllowlist }, claims, scopes: ['openid', 'offline_access'] });
    expect(codesFor({ AUTH_PROVIDERS_CONFIG_JSON: entry })).toEqual(expected);
  });

  it.each([
    ['userName', {}, ['warning directory-name-can-be-chosen']],
    ['userName', { login: 'sub' }, []],
    ['email', {}, []],
    ['externalId', {}, []],
  ])('finds in a directory matched by %s with the claims %j: %j', (match, claims, expected) => {
    const folder = mkdtempSync(join(tmpdir(), 'directory-'));
    const tokenFile = join(folder, 'token');
    writeFileSync(tokenFile, 'a-token-of-the-directory-of-the-spec');
    const entry = okta({ claims, signals: { scim: { tokenFile, match } } });
    expect(codesFor({ AUTH_PROVIDERS_CONFIG_JSON: entry })).toEqual([
      'warning offboarding-without-allowlists',
      ...expected,
    ]);
  });

  it.each<[Record<string, string>, string[]]>([
    [{ GITHUB_CLIENT_ID: 'Iv1.0123456789abcdef' }, ['warning github-app-id-missing']],
    [{ GITHUB_CLIENT_ID: 'Iv23liABCDEFGHIJKLMN' }, ['warning github-app-id-missing']],
    [{ GITHUB_CLIENT_ID: 'Iv1.0123456789abcdef', AUTH_GITHUB_ALLOWED_ORGS: '' }, []],
    [{ GITHUB_CLIENT_ID: 'Ov23liABCDEFGHIJKLMN' }, []],
    [{ GITHUB_CLIENT_ID: '0123456789abcdef0123' }, []],
  ])('finds in %j removals that GitHub does not show: %j', (more, expected) => {
    const environment = {
      GITHUB_CLIENT_SECRET: 'secret',
      AUTH_GITHUB_ALLOWED_ORGS: 'acme',
      ...more,
    };
    const isOpen = environment.AUTH_GITHUB_ALLOWED_ORGS === '';
    const unrestricted = isOpen ? ['warning offboarding-without-allowlists'] : [];
    expect(codesFor(environment)).toEqual([...unrestricted, ...expected]);
  });

  it('recognises logins of GitHub, and finds e-mail addresses among them', () => {
    const github = { GITHUB_CLIENT_ID: 'id', GITHUB_CLIENT_SECRET: 'secret' };
    const codesWith = (users: string) => codesFor({ ...github, AUTH_GITHUB_ALLOWED_USERS: users });
    expect(codesWith('alice,sub:583231')).toEqual([]);
    expect(codesWith('alice,bob@acme.example')).toEqual(['warning email-rule-never-met']);
    expect(() => codesWith('alice,email:bob')).toThrow('AUTH_GITHUB_ALLOWED_USERS');
  });
});
