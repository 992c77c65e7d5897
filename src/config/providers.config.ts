import type { GitHubRules, OidcRules } from '../policy/eligibility/provider-rules.js';
import { namespaceOf, type Variable, variablesOf } from './environment/variable.js';

/** Asymmetric signatures only: neither `none`, nor HS* with a client secret as the key. */
export const SIGNATURE_ALGORITHMS = [
  ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const),
  ...(['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'] as const),
] as const;

export type SignatureAlgorithm = (typeof SIGNATURE_ALGORITHMS)[number];

export interface GitHubProviderSettings extends GitHubRules {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Where the secret was read, and is read again; null = it was given itself. */
  readonly clientSecretFile: string | null;
  readonly redirectUrl: string | null;
  readonly baseUrl: string;
  readonly apiUrl: string;
  readonly orgMembershipSource: 'github_app' | 'oauth_user_token';
  /** null = the webhook route is off. */
  readonly webhookSecret: string | null;
  readonly webhookSecretFile: string | null;
  readonly app: {
    readonly id: string;
    readonly privateKey: string;
    readonly installationIdByOrg: Readonly<Record<string, string>>;
  } | null;
}

export interface OidcProviderSettings extends OidcRules {
  readonly issuer: string;
  readonly clientId: string;
  /** null = the client authenticates by one of the two files below. */
  readonly clientSecret: string | null;
  /** Where the secret was read, and is read again; null = it was given itself. */
  readonly clientSecretFile: string | null;
  /** Private keys (PEM) for `private_key_jwt`; null = none. */
  readonly clientKeyFile: string | null;
  /** A client assertion that is renewed outside; null = none. */
  readonly clientAssertionFile: string | null;
  /** `aud` of assertions that are signed here. */
  readonly clientAssertionAudience: 'issuer' | 'tokenEndpoint';
  readonly redirectUrl: string | null;
  readonly scopes: readonly string[];
  readonly prompt: 'login' | 'consent' | 'select_account' | null;
  readonly httpTimeoutSeconds: number;
  readonly fetchUserInfo: boolean;
  readonly formerIssuers: readonly string[];
  /** The algorithm that the client is registered with; null = those that discovery lists. */
  readonly idTokenSigningAlg: SignatureAlgorithm | null;
  /** The `typ` that a logout token must have; `any` = it need not have one. */
  readonly logoutTokenType: 'logout+jwt' | 'any';
  /** Groups that do not fit into the token are read from Microsoft Graph. */
  readonly entra: { readonly graph: boolean; readonly graphUrl: string | null };
  readonly googleWorkspaceGroups: GoogleWorkspaceSettings | null;
}

/** How the users and groups of Google Workspace are read. */
export interface GoogleWorkspaceSettings {
  /** Holds a private key, and is read again when it is used. */
  readonly serviceAccountKeyFile: string;
  readonly adminEmail: string;
  readonly nestedGroups: boolean;
  /** null = Google's own address. */
  readonly directoryUrl: string | null;
}

export type ProviderSettings = GitHubProviderSettings | OidcProviderSettings;

const provider = variablesOf('Identity providers');
const github = variablesOf('GitHub');

/** External identity providers: the file of the OpenID Connect ones, and GitHub. */
export const PROVIDER_VARIABLES = {
  AUTH_PROVIDERS_CONFIG_PATH: provider(
    { type: 'path', default: null },
    'File with the JSON array of OpenID Connect providers (see config/providers.example.json). A change of its `allow` rules takes effect without a restart.',
  ),
  AUTH_PROVIDERS_CONFIG_JSON: provider(
    { type: 'json', default: null, secret: true },
    'The same array as text, in place of the file.',
  ),
  GITHUB_CLIENT_ID: github(
    { type: 'string', default: null },
    'Client id of the OAuth or GitHub App. With the secret it turns the provider github on.',
  ),
  GITHUB_CLIENT_SECRET: github(
    { type: 'string', default: null, secret: true },
    'Client secret of the OAuth or GitHub App.',
  ),
  GITHUB_REDIRECT_URL: github(
    {
      type: 'url',
      schemes: ['http', 'https'],
      default: null,
      defaultDoc: 'SERVICE_PUBLIC_URL + /v1/oauth/github/callback',
    },
    'Callback address registered with the app.',
  ),
  GITHUB_BASE_URL: github(
    { type: 'url', schemes: ['http', 'https'], default: 'https://github.com' },
    'Address of GitHub, or of a GitHub Enterprise Server.',
  ),
  GITHUB_API_URL: github(
    {
      type: 'url',
      schemes: ['http', 'https'],
      default: null,
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
      pattern: /^[\w.-]+(\/[\w.-]+)?$/,
      shape: 'an organisation, or organisation/team',
    },
    'Organisations, and teams as organisation/team (its slug), whose members are eligible. Empty = no restriction by organisation.',
  ),
  AUTH_GITHUB_ORG_MATCH: github(
    { type: 'enum', default: 'any', values: ['any', 'all'] },
    'Whether membership in one of the organisations and teams is enough, or all are needed.',
  ),
  AUTH_GITHUB_ORG_MEMBERSHIP_SOURCE: github(
    {
      type: 'enum',
      default: null,
      defaultDoc: 'github_app when AUTH_GITHUB_APP_ID is set, else oauth_user_token',
      values: ['github_app', 'oauth_user_token'],
    },
    'Who asks GitHub for the membership: an installed GitHub App, or the token of the user.',
  ),
  AUTH_GITHUB_APP_ID: github(
    { type: 'string', default: null, pattern: /^\d{1,20}$/, shape: 'the number of the GitHub App' },
    'Id of the GitHub App that reads memberships.',
  ),
  AUTH_GITHUB_APP_PRIVATE_KEY: github(
    { type: 'string', default: null, secret: true },
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
      pattern: /^[\w.-]+\s*[=:]\s*\d{1,20}$/,
      shape: 'organisation=installation id',
    },
    'Installation of the GitHub App in each organisation, such as `acme=12345,other=678`.',
  ),
} as const satisfies Record<string, Variable>;

export const providersConfig = namespaceOf('providers', ({ providers }) => providers);
