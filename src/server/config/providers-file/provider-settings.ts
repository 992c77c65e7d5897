import type {
  DirectoryRules,
  GitHubRules,
  OidcRules,
} from '../../../core/policy/eligibility/provider-rules.js';

/** Asymmetric signatures only: neither `none`, nor HS* with a client secret as the key. */
export const SIGNATURE_ALGORITHMS = [
  ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const),
  ...(['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'] as const),
] as const;

/** How the client secret is sent (OpenID Connect Core 1.0, 9). */
export const TOKEN_ENDPOINT_AUTH_METHODS = ['client_secret_basic', 'client_secret_post'] as const;

export type TokenEndpointAuthMethod = (typeof TOKEN_ENDPOINT_AUTH_METHODS)[number];

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
  readonly clientSecretFile: string | null;
  /** null = as the discovery document says. */
  readonly tokenEndpointAuthMethod: TokenEndpointAuthMethod | null;
  /** Unix milliseconds; null = not given. */
  readonly clientSecretExpiresAt: number | null;
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
  readonly idTokenSigningAlg: (typeof SIGNATURE_ALGORITHMS)[number] | null;
  /** Audiences that an ID token may have in addition to the client id. */
  readonly trustedAudiences: readonly string[];
  /** The `typ` that a logout token must have; `any` = it need not have one. */
  readonly logoutTokenType: 'logout+jwt' | 'any';
  /** `graphUrl`: null = that of the global service. */
  readonly entra: OidcRules['entra'] & { readonly graphUrl: string | null };
  readonly googleWorkspaceGroups: GoogleWorkspaceSettings | null;
  readonly scim: ScimSettings | null;
  readonly globalTokenRevocation: GlobalTokenRevocationSettings | null;
  readonly sharedSignals: SharedSignalsSettings | null;
}

export interface ScimSettings extends DirectoryRules {
  /** Read again when it is used; null = the token is given itself. */
  readonly tokenFile: string | null;
  /** The token, or the content of the file at the start. */
  readonly tokenText: string;
  /** Percentage of the people whose deactivation within an hour raises an alarm. */
  readonly deactivationAlarm: number;
}

export interface SharedSignalsSettings {
  /** The issuer of the events, whose `/.well-known/ssf-configuration` names its keys. */
  readonly transmitter: string;
  /** Before `gatehouse signals connect` adopts the one of the stream. */
  readonly audience: string;
  readonly delivery: 'push' | 'poll';
  /** Where the transmitter pushes to; null = the address of this server is unknown. */
  readonly endpoint: string | null;
  /** null = the stream is managed at the transmitter alone. */
  readonly management: StreamManagementSettings | null;
  /** The bearer token of the transmitter; null = its events authenticate it alone. */
  readonly push: { readonly tokenText: string; readonly tokenFile: string | null } | null;
  readonly riskEvents: 'count' | 'end-sessions';
}

/** Credentials for the transmitter's API, which manages and polls the stream. */
export type StreamManagementSettings =
  | { readonly kind: 'token'; readonly tokenText: string; readonly tokenFile: string | null }
  | {
      readonly kind: 'client';
      readonly tokenUrl: string;
      readonly clientId: string;
      readonly clientSecret: string;
      readonly clientSecretFile: string | null;
      readonly tokenEndpointAuthMethod: TokenEndpointAuthMethod;
      readonly scope: string;
    };

/** Requests of universal logout: who sends them, and where. */
export interface GlobalTokenRevocationSettings {
  readonly issuer: string;
  readonly subject: string;
  readonly jwksUri: string;
  /** The address of the route, which every token has to name as its only audience. */
  readonly endpoint: string;
}

export interface GoogleWorkspaceSettings {
  /** Holds a private key, and is read again when it is used. */
  readonly serviceAccountKeyFile: string;
  readonly adminEmail: string;
  readonly nestedGroups: boolean;
  /** null = Google's own address. */
  readonly directoryUrl: string | null;
}

export type ProviderSettings = GitHubProviderSettings | OidcProviderSettings;

const SECRETS = ['clientSecret', 'tokenText', 'webhookSecret', 'privateKey'];

export function printableProviders(providers: readonly ProviderSettings[]): ProviderSettings[] {
  const text = JSON.stringify(providers, (name, value: unknown) =>
    SECRETS.includes(name) && value ? '(set)' : value,
  );
  return JSON.parse(text) as ProviderSettings[];
}
