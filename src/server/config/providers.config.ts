import { createPrivateKey } from 'node:crypto';
import { userEntryFailure } from '../../core/policy/eligibility/eligibility.js';
import type { ConfigurationReport } from './environment/configuration-error.js';
import {
  namespaceOf,
  PLAIN_ADDRESS,
  variablesOf,
  type Checked,
  type ValuesOf,
} from './environment/variable.js';
import { withoutTrailingSlash } from './http.config.js';
import { insecureFailure } from './providers-file/entry-schema.js';
import type {
  GitHubProviderSettings,
  ProviderSettings,
} from './providers-file/provider-settings.js';
import type { LoginAddresses } from './providers-file/entries-file.js';
import { callbackUrl } from './providers-file/providers-file.js';

const PUBLIC_GITHUB = 'https://github.com';
const PUBLIC_API = 'https://api.github.com';

/** Client ids of GitHub Apps; those of OAuth Apps begin with `Ov`, or have hexadecimal digits only. */
const APP_CLIENT = /^Iv\d/;

const provider = variablesOf('Identity providers');
const github = variablesOf('GitHub');

export const PROVIDER_VARIABLES = {
  AUTH_PROVIDERS_CONFIG_PATH: provider.path(
    'JSON file with the OpenID Connect providers, as config/providers.example.json. Changed `allow` rules apply without a restart.',
  ),
  AUTH_PROVIDERS_CONFIG_JSON: provider(
    { type: 'json', default: null, secret: true },
    'The same array as text, in place of the file.',
  ),
  GITHUB_CLIENT_ID: github(
    { type: 'string', default: null },
    'Client id of the OAuth or GitHub App. Together with the secret it enables the provider github.',
  ),
  GITHUB_CLIENT_SECRET: github(
    { type: 'string', default: null, secret: true },
    'Client secret of the OAuth or GitHub App.',
  ),
  GITHUB_REDIRECT_URL: github(
    { ...PLAIN_ADDRESS, defaultDoc: 'SERVICE_PUBLIC_URL + /v1/oauth/github/callback' },
    'Callback address registered with the app.',
  ),
  GITHUB_BASE_URL: github(
    { ...PLAIN_ADDRESS, default: 'https://github.com' },
    'Address of GitHub, or of a GitHub Enterprise Server.',
  ),
  GITHUB_API_URL: github(
    {
      ...PLAIN_ADDRESS,
      defaultDoc: 'https://api.github.com, or GITHUB_BASE_URL + /api/v3 for an Enterprise Server',
    },
    'Address of the REST API.',
  ),
  AUTH_GITHUB_ALLOWED_USERS: github(
    { type: 'csv', default: [], lowerCase: true },
    'Logins that are eligible, or `sub:` and the numeric id. Empty = no restriction by user.',
  ),
  AUTH_GITHUB_ALLOWED_ORGS: github(
    {
      type: 'csv',
      default: [],
      lowerCase: true,
      pattern: /^(id:[1-9]\d{0,18}|[\w.-]+)(\/[\w.-]+)?$/,
      shape: 'an organisation, id: and its numeric id, or one of them with /team',
    },
    'Organisations whose members are eligible, by name or as `id:` and the numeric id, and teams as organisation/team-slug. Empty = no restriction by organisation.',
  ),
  AUTH_GITHUB_ORG_MATCH: github(
    { type: 'enum', default: 'any', values: ['any', 'all'] },
    'Defines if an account needs one of the organisations and teams, or all.',
  ),
  AUTH_GITHUB_ORG_MEMBERSHIP_SOURCE: github(
    {
      type: 'enum',
      default: null,
      defaultDoc: 'github_app when AUTH_GITHUB_APP_ID is set, else oauth_user_token',
      values: ['github_app', 'oauth_user_token'],
    },
    'Reader of the membership: an installed GitHub App, or the token of the user.',
  ),
  AUTH_GITHUB_APP_ID: github(
    { type: 'string', default: null, pattern: /^\d{1,20}$/, shape: 'the number of the GitHub App' },
    'Id of the GitHub App that reads memberships.',
  ),
  AUTH_GITHUB_APP_PRIVATE_KEY: github(
    { type: 'string', default: null, secret: true, multiLine: true },
    'Private key of the GitHub App (PEM; `\\n` is read as a line break).',
  ),
  AUTH_GITHUB_WEBHOOK_SECRET: github(
    { type: 'string', default: null, secret: true, minBytes: 16 },
    'Secret of the webhook at /v1/auth/providers/github/webhook. Empty = that route is off.',
  ),
  AUTH_GITHUB_APP_INSTALLATION_ID_BY_ORG: github(
    {
      type: 'csv',
      default: [],
      pattern: /^(id:[1-9]\d{0,18}|[\w.-]+)\s*[=:]\s*\d{1,20}$/,
      shape: 'organisation=installation id',
    },
    'Installation id of the GitHub App in each organisation, such as `acme=12345,id:583231=678`.',
  ),
};

export const providersConfig = namespaceOf(
  'providers',
  (checked: { providers: readonly ProviderSettings[] }) => checked.providers,
);

export type ConfiguredProviders = ReturnType<typeof providersConfig>;

type ProviderValues = ValuesOf<typeof PROVIDER_VARIABLES>;

/** Returns null if no client is configured. */
export function readGitHubProvider(
  values: ProviderValues,
  secretFile: Checked<typeof PROVIDER_VARIABLES>['secretFile'],
  addresses: LoginAddresses,
  report: ConfigurationReport,
): GitHubProviderSettings | null {
  const clientId = values.GITHUB_CLIENT_ID;
  const clientSecret = values.GITHUB_CLIENT_SECRET;
  if (clientId === null || clientSecret === null) {
    checkLeftovers(values, report);
    return null;
  }
  const baseUrl = withoutTrailingSlash(values.GITHUB_BASE_URL) ?? PUBLIC_GITHUB;
  const membershipSource = values.AUTH_GITHUB_ORG_MEMBERSHIP_SOURCE ?? defaultSource(values);
  checkAddresses(values, report);
  checkUsers(values, report);
  checkMembershipSource(values, membershipSource, report);
  const redirectUrl = values.GITHUB_REDIRECT_URL ?? callbackUrl(addresses, 'github');
  return {
    type: 'github',
    id: 'github',
    displayName: 'GitHub',
    isOAuthConfigured: redirectUrl !== null && addresses.hasReturnAddress,
    ui: { iconHint: 'github', buttonColor: null },
    clientId,
    clientSecret,
    clientSecretFile: secretFile('GITHUB_CLIENT_SECRET'),
    redirectUrl,
    baseUrl,
    apiUrl: withoutTrailingSlash(values.GITHUB_API_URL) ?? defaultApiUrl(baseUrl),
    allowedUsers: values.AUTH_GITHUB_ALLOWED_USERS,
    allowedOrgs: values.AUTH_GITHUB_ALLOWED_ORGS,
    orgMatch: values.AUTH_GITHUB_ORG_MATCH,
    orgMembershipSource: membershipSource,
    confirmsRemovals: membershipSource === 'github_app' || !APP_CLIENT.test(clientId),
    webhookSecret: values.AUTH_GITHUB_WEBHOOK_SECRET,
    webhookSecretFile: secretFile('AUTH_GITHUB_WEBHOOK_SECRET'),
    app: appOf(values, report),
  };
}

function defaultSource(values: ProviderValues): GitHubProviderSettings['orgMembershipSource'] {
  return values.AUTH_GITHUB_APP_ID === null ? 'oauth_user_token' : 'github_app';
}

function defaultApiUrl(baseUrl: string): string {
  return baseUrl === PUBLIC_GITHUB ? PUBLIC_API : `${baseUrl}/api/v3`;
}

/** Reports a half-configured client, and allowlists without a client, which have no effect. */
function checkLeftovers(values: ProviderValues, report: ConfigurationReport): void {
  const { GITHUB_CLIENT_ID: clientId, GITHUB_CLIENT_SECRET: clientSecret } = values;
  if (clientId === null && clientSecret !== null) {
    report.problemOnce('GITHUB_CLIENT_ID', 'is missing although GITHUB_CLIENT_SECRET is set.');
  }
  if (clientId !== null && clientSecret === null) {
    report.problemOnce('GITHUB_CLIENT_SECRET', 'is missing although GITHUB_CLIENT_ID is set.');
  }
  if (clientId !== null || clientSecret !== null) {
    return;
  }
  const lists: (keyof ProviderValues)[] = ['AUTH_GITHUB_ALLOWED_USERS', 'AUTH_GITHUB_ALLOWED_ORGS'];
  for (const name of lists) {
    if (values[name]?.toString() !== '') {
      report.warn(`${name} has no effect: GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET are not set.`);
    }
  }
}

function checkAddresses(values: ProviderValues, report: ConfigurationReport): void {
  for (const name of ['GITHUB_BASE_URL', 'GITHUB_API_URL'] as const) {
    const address = values[name];
    const failure = address === null ? null : insecureFailure(new URL(address));
    if (failure !== null) {
      report.problem(name, failure);
    }
  }
}

function checkUsers(values: ProviderValues, report: ConfigurationReport): void {
  const failures = new Set(values.AUTH_GITHUB_ALLOWED_USERS.map(userEntryFailure));
  for (const failure of failures) {
    if (failure !== null) {
      report.problem('AUTH_GITHUB_ALLOWED_USERS', failure);
    }
  }
}

function checkMembershipSource(
  values: ProviderValues,
  source: string,
  report: ConfigurationReport,
): void {
  const isUsed = source === 'github_app' && values.AUTH_GITHUB_ALLOWED_ORGS.length > 0;
  if (isUsed && values.AUTH_GITHUB_APP_ID === null) {
    report.problemOnce(
      'AUTH_GITHUB_APP_ID',
      'is missing; AUTH_GITHUB_ORG_MEMBERSHIP_SOURCE=github_app reads memberships as that app.',
    );
  }
}

function appOf(values: ProviderValues, report: ConfigurationReport): GitHubProviderSettings['app'] {
  const id = values.AUTH_GITHUB_APP_ID;
  const privateKey = values.AUTH_GITHUB_APP_PRIVATE_KEY?.replaceAll('\\n', '\n') ?? null;
  if (privateKey !== null && !isPrivateKey(privateKey)) {
    report.problem('AUTH_GITHUB_APP_PRIVATE_KEY', 'must be an RSA private key in PEM form.');
  }
  if (id === null) {
    return null;
  }
  if (privateKey === null) {
    const why = 'is missing although AUTH_GITHUB_APP_ID is set.';
    report.problemOnce('AUTH_GITHUB_APP_PRIVATE_KEY', why);
    return null;
  }
  return { id, privateKey, installationIdByOrg: installationsOf(values) };
}

function installationsOf(values: ProviderValues): Record<string, string> {
  const pairs = values.AUTH_GITHUB_APP_INSTALLATION_ID_BY_ORG.map((item) => {
    const [org = '', id = ''] = item.split(/\s*[=:]\s*(?=\d+$)/);
    return [org.toLowerCase(), id] as const;
  });
  return Object.fromEntries(pairs);
}

function isPrivateKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}
