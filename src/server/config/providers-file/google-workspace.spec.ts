import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError } from '../environment/configuration-error.js';
import { resolveSettings } from '../resolve-settings.js';
import { type ProviderSettings, printableProviders } from './provider-settings.js';

const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const RSA = pemOf(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey);
const SHORT = pemOf(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey);
const EC = pemOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);

const KEY = {
  type: 'service_account',
  private_key_id: 'key-1',
  private_key: RSA,
  client_email: 'gatehouse@acme-project.iam.gserviceaccount.com',
};
const WORKSPACE = { serviceAccountKeyFile: 'key.json', adminEmail: 'admin@acme.example' };
const ENTRY = {
  id: 'google',
  type: 'oidc',
  issuer: 'https://accounts.google.com',
  clientId: 'gatehouse',
  clientSecret: 'client-secret',
  allow: { groupsAny: ['Staff@acme.example'] },
  googleWorkspaceGroups: WORKSPACE,
};

describe('groups of Google Workspace', () => {
  let directory: string;

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'gatehouse-workspace-'));
  });

  function providersOf(entry: object, key: string): readonly ProviderSettings[] {
    const path = join(directory, 'providers.json');
    writeFileSync(path, JSON.stringify([entry]));
    writeFileSync(join(directory, 'key.json'), key);
    return resolveSettings({ AUTH_PROVIDERS_CONFIG_PATH: path }).settings.providers;
  }

  function problemsOf(entry: object, key = JSON.stringify(KEY)): string[] {
    try {
      providersOf(entry, key);
    } catch (error) {
      return (error as ConfigurationError).problems.map(({ message }) => message);
    }
    return [];
  }

  it('reads the key next to the providers file, and needs no refresh token', () => {
    const providers = providersOf(ENTRY, JSON.stringify(KEY));
    expect(providers).toMatchObject([
      {
        storeRefreshToken: false,
        allow: { groupsAny: ['staff@acme.example'] },
        googleWorkspaceGroups: {
          serviceAccountKeyFile: join(directory, 'key.json'),
          adminEmail: 'admin@acme.example',
          nestedGroups: false,
          directoryUrl: null,
        },
      },
    ]);
    expect(JSON.stringify([providers, printableProviders(providers)])).not.toMatch(
      /PRIVATE|iam\.gserviceaccount/,
    );
  });

  it.each<[string, string, object | string]>([
    ['text', 'is not the JSON key of a service account', RSA],
    ['no file content', 'is empty', ' '],
    ['the file of an OAuth client', 'is not the JSON key', { web: { client_secret: RSA } }],
    ['credentials of a user', 'is not the JSON key', { ...KEY, type: 'authorized_user' }],
    ['no private key', 'has no private key in PEM', { ...KEY, private_key: 'hunter2' }],
    ['a damaged key', 'cannot be read', { ...KEY, private_key: RSA.replace('MII', 'AAA') }],
    ['a short key', 'is neither RSA (2048 bits or more)', { ...KEY, private_key: SHORT }],
    ['an EC key', 'is not RSA', { ...KEY, private_key: EC }],
    ['a token_uri of http', 'that is not https', { ...KEY, token_uri: 'http://token.example' }],
  ])('refuses a key file with %s, and quotes nothing of it', (_case, message, key) => {
    const problems = problemsOf(ENTRY, typeof key === 'string' ? key : JSON.stringify(key));
    const field = '[0].googleWorkspaceGroups.serviceAccountKeyFile names a file that ';
    expect(problems).toEqual([expect.stringContaining(message)]);
    expect(problems[0]?.startsWith(field)).toBe(true);
    expect(problems.join()).not.toMatch(/hunter2|MII|AAA|token\.example|gserviceaccount/);
  });

  it.each<[string, object]>([
    ['.googleWorkspaceGroups.serviceAccountKeyFile is missing.', { adminEmail: 'a@acme.example' }],
    ['.googleWorkspaceGroups.adminEmail must be an e-mail', { ...WORKSPACE, adminEmail: 'admin' }],
    [
      '.googleWorkspaceGroups.directoryUrl must use https',
      { ...WORKSPACE, directoryUrl: 'http://a.b' },
    ],
    ['.googleWorkspaceGroups.nestedGroups must be true', { ...WORKSPACE, nestedGroups: 'yes' }],
    [
      '.googleWorkspaceGroups.serviceAccountKeyFile names a file that does not exist',
      { ...WORKSPACE, serviceAccountKeyFile: 'missing.json' },
    ],
  ])('reports %s', (message, googleWorkspaceGroups) => {
    expect(problemsOf({ ...ENTRY, googleWorkspaceGroups })).toEqual([
      expect.stringContaining(`[0]${message}`),
    ]);
  });

  it.each<[string, object]>([
    ['.googleWorkspaceGroups needs allow.groupsAny', { allow: { emailDomains: ['acme.example'] } }],
    ['.allow.groupsAll must be the e-mail addresses', { allow: { groupsAll: ['staff'] } }],
    ['.storeRefreshToken must not be true', { storeRefreshToken: true }],
    ['.entra.graph and googleWorkspaceGroups are both set', { entra: { graph: true } }],
    ['.allow must be an object', { allow: 7 }],
  ])('reports %s', (message, change) => {
    expect(problemsOf({ ...ENTRY, ...change })).toEqual([expect.stringContaining(`[0]${message}`)]);
  });
});
