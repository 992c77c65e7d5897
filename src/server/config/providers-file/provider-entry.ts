import * as v from 'valibot';
import { userEntryFailure } from '../../../core/policy/eligibility/eligibility.js';
import { PROVIDER_ID_PATTERN } from '../environment/variable.js';
import {
  choice,
  FLAG,
  flag,
  object,
  optionalChoice,
  optionalNumber,
  optionalObject,
  optionalText,
  optionalTexts,
  pattern,
  section,
  secureUrl,
  text,
  texts,
  url,
} from './entry-schema.js';
import { SIGNATURE_ALGORITHMS, TOKEN_ENDPOINT_AUTH_METHODS } from './provider-settings.js';

/** The field `signals` of an entry of the providers file. */
const SIGNALS = section('Signals with which the provider or its directory reports leavers.', {
  scim: optionalObject(
    'Accepts SCIM 2.0 requests of a directory at `/v1/scim/<id>/v2`, to end the access of leavers at once.',
    {
      token: optionalText('Bearer token of the directory. Either this or tokenFile is needed.'),
      tokenFile: optionalText(
        'File with the bearer token of the directory, at least 32 characters, relative to the providers file. During a rotation it has two, one a line. A change applies without a restart.',
      ),
      match: optionalChoice(
        ['externalId', 'oid', 'userName', 'email'],
        'Attribute of SCIM that names an identity: `externalId` is the subject, with `oid` it is the object id of Microsoft Entra ID, `userName` is the login and `email` the verified e-mail address.',
        'externalId',
      ),
      required: flag(
        'Refuses people that the directory does not show as active. Without effect until it has shown one.',
      ),
      deactivationAlarm: optionalNumber(
        { min: 1, max: 100 },
        'Percentage of the people whose deactivation within an hour raises an alarm, at least 20 people.',
        10,
      ),
    },
  ),
  sharedSignals: optionalObject(
    'Accepts security events (OpenID Shared Signals Framework 1.0) at `/v1/signals/<id>`.',
    {
      transmitter: secureUrl(
        'Issuer of the events. Its `/.well-known/ssf-configuration` names its keys.',
      ),
      audience: optionalText('Audience of the events. Default: SERVICE_PUBLIC_URL.'),
      delivery: optionalChoice(
        ['push', 'poll'],
        'Delivery of the events: the transmitter pushes them (RFC 8935), or this server polls for them (RFC 8936), which needs no way in from outside.',
        'push',
      ),
      pushToken: optionalText(
        'Bearer token that the transmitter sends with its requests. Without it and pushTokenFile, the signature of each event is the only proof.',
      ),
      pushTokenFile: optionalText(
        'File with that token, at least 32 characters, relative to the providers file. During a rotation it has two, one a line. A change applies without a restart.',
      ),
      managementToken: optionalText(
        "Bearer token for the transmitter's API, with which this server makes and polls the stream.",
      ),
      managementTokenFile: optionalText(
        'File with that token, relative to the providers file. During a rotation it has two, one a line, of which the last is sent. A change applies without a restart.',
      ),
      managementClient: optionalObject(
        'OAuth client that gets tokens for the same API by itself (client credentials), in place of managementTokenFile.',
        {
          tokenUrl: secureUrl('Token endpoint of the authorization server.'),
          clientId: text('Client id.'),
          clientSecret: optionalText('Client secret. Either this or clientSecretFile is needed.'),
          clientSecretFile: optionalText(
            'File with the client secret, relative to the providers file. During a rotation it has two, one a line, of which the last is sent. A change applies without a restart.',
          ),
          tokenEndpointAuthMethod: optionalChoice(
            TOKEN_ENDPOINT_AUTH_METHODS,
            'How the client secret is sent.',
            'client_secret_basic',
          ),
          scope: optionalText('Scope to ask for.', 'ssf.manage ssf.read'),
        },
      ),
      riskEvents: optionalChoice(
        ['count', 'end-sessions'],
        'Effect of events about the risk or assurance of a person, or the compliance of a device: they are counted, or end the sessions.',
        'count',
      ),
    },
  ),
  globalTokenRevocation: optionalObject(
    'Accepts universal logout (Global Token Revocation) at `/v1/signals/<id>/global-token-revocation`. Needs SERVICE_PUBLIC_URL.',
    {
      issuer: url(
        'Issuer (iss) of the tokens of the requests, such as the address of the Okta organization.',
      ),
      subject: text('Subject (sub) of these tokens: the id of the sending application.'),
      jwksUri: secureUrl('Address of the public keys (JWK set) that verify these tokens.'),
    },
  ),
});

/** Ids with another meaning in the lists of providers. */
export const RESERVED_PROVIDER_IDS: readonly string[] = [
  'key_challenge',
  'mtls',
  'anonymous',
  'invitation',
];

export const CREDENTIAL_FILES = [
  'clientSecretFile',
  'clientKeyFile',
  'clientAssertionFile',
] as const;

export const FIELDS_WITH_FILES = [...CREDENTIAL_FILES, 'googleWorkspaceGroups'] as const;

const DATE = 'must be a date such as 2027-01-31.';

/** Comparisons ignore case, so values are stored in lower case. Empty = no restriction. */
const allowRule = (doc: string) => texts(doc, (value) => value.toLowerCase());

/** The reader, the JSON schema and the documentation of the file are derived from this. */
export const PROVIDER_ENTRY = object({
  id: v.pipe(
    pattern(
      'lower-case letters, digits, - and _ (up to 64, not starting with - or _)',
      PROVIDER_ID_PATTERN,
      'Id of the provider in routes and in the other variables.',
    ),
    v.check((id) => id !== 'github', 'must not be github, which the GITHUB_* variables configure.'),
    v.check(
      (id) => !RESERVED_PROVIDER_IDS.includes(id),
      `must not be one of ${RESERVED_PROVIDER_IDS.join(', ')}.`,
    ),
  ),
  type: choice(['oidc'], 'Protocol of the provider.'),
  displayName: optionalText('Name that people see. Default: the id.'),
  issuer: secureUrl('Issuer, exactly as in its discovery document.'),
  formerIssuers: optionalTexts(
    'Earlier issuers of the same provider, with the same subjects. Identities of any other issuer never match.',
  ),
  clientId: text('Client id registered with the provider.'),
  clientSecret: optionalText(
    'Client secret. One of this, clientSecretFile, clientKeyFile and clientAssertionFile is needed.',
  ),
  clientSecretFile: optionalText(
    'File with the client secret, relative to the providers file. A change applies without a restart.',
  ),
  tokenEndpointAuthMethod: optionalChoice(
    TOKEN_ENDPOINT_AUTH_METHODS,
    'How the client secret is sent. Default: as the discovery document lists. If it lists both, client_secret_post, and client_secret_basic after a refusal.',
  ),
  clientSecretExpiresAt: v.optional(
    v.pipe(
      v.string(DATE),
      v.check(isDay, DATE),
      v.description(
        'Day on which the client secret ends, such as 2027-01-31. The server warns 21 days before. The end of a secret that is a JWT is known without it.',
      ),
    ),
  ),
  clientKeyFile: optionalText(
    'PEM file with private keys (RSA, EC or Ed25519) for `private_key_jwt` (RFC 7523). The first key signs. `/v1/oauth/<id>/jwks` publishes all. A change applies without a restart.',
  ),
  clientAssertionFile: optionalText(
    'File with a client assertion (RFC 7523) that another program renews, such as the token of a Kubernetes service account. Each use reads it.',
  ),
  clientAssertionAudience: optionalChoice(
    ['issuer', 'tokenEndpoint'],
    'Audience of assertions that clientKeyFile signs: the issuer, or the address of the token endpoint.',
    'issuer',
  ),
  redirectUrl: v.optional(
    url(
      'Callback registered with the provider. Default: SERVICE_PUBLIC_URL + `/v1/oauth/<id>/callback`.',
    ),
  ),
  scopes: v.optional(
    v.pipe(
      texts(
        'Requested scopes. openid is needed. Most providers give a refresh token for offline_access only.',
      ),
      v.check((scopes) => scopes.includes('openid'), 'must have openid.'),
    ),
    ['openid', 'profile', 'email'],
  ),
  prompt: optionalChoice(
    ['login', 'consent', 'select_account'],
    'Prompt at every login. Some providers give a refresh token for offline_access only with consent (OpenID Connect Core 1.0, 11).',
  ),
  httpTimeoutSeconds: optionalNumber(
    { min: 1, max: 120 },
    'Longest time of one request to the provider.',
    30,
  ),
  claims: section('Names of the claims that the server reads.', {
    login: optionalText('Claim with the login name.', 'preferred_username'),
    email: optionalText(
      'Claim with the e-mail address. Another claim than email needs the emailVerification trustedIssuer.',
      'email',
    ),
    groups: optionalText('Claim with the groups.', 'groups'),
  }),
  allow: section(
    'Rules for eligible people, compared without case. Each rule that is not empty must be met.',
    {
      usersAllowlist: v.optional(
        v.pipe(
          allowRule(
            'People, as `sub:` subject, `email:` verified address or `login:` login name. Without a prefix: a verified address if it has @, else a login or subject. Empty = no restriction.',
          ),
          v.rawCheck(({ dataset, addIssue }) => {
            const failures = new Set(dataset.typed ? dataset.value.map(userEntryFailure) : []);
            [...failures].forEach((message) => message !== null && addIssue({ message }));
          }),
        ),
        [],
      ),
      emailDomains: v.optional(
        v.pipe(
          allowRule('Domains of the verified e-mail address. Empty = no restriction.'),
          v.check(
            (domains) => !domains.some((domain) => /[@*]/.test(domain)),
            'must be domains without @ or *.',
          ),
        ),
        [],
      ),
      groupsAny: v.optional(
        allowRule('Groups of which one is needed. Empty = no restriction.'),
        [],
      ),
      groupsAll: v.optional(allowRule('Groups that are all needed. Empty = no restriction.'), []),
    },
  ),
  emailVerification: optionalChoice(
    ['required', 'trustedIssuer'],
    'Defines if an e-mail address needs the claim email_verified, or if this issuer is trusted with it.',
    'required',
  ),
  fetchUserInfo: flag('Reads the userinfo endpoint in addition to the ID token.'),
  storeRefreshToken: v.optional(
    v.pipe(
      v.boolean(FLAG),
      v.description(
        'Stores the refresh token, sealed, for re-checks of eligibility. Default: true with allow rules, else false.',
      ),
    ),
  ),
  idTokenSigningAlg: optionalChoice(
    SIGNATURE_ALGORITHMS,
    'Registered algorithm of ID tokens and logout tokens. Others are refused. Default: those of the discovery document.',
  ),
  trustedAudiences: optionalTexts(
    'Audiences that an ID token may have in addition to the client id, such as the project id of Zitadel. A token with any other audience is refused.',
  ),
  logoutTokenType: optionalChoice(
    ['logout+jwt', 'any'],
    'Type (typ) of logout tokens. Back-Channel Logout 1.0 recommends logout+jwt, but many providers send none.',
    'any',
  ),
  entra: section('Microsoft Entra ID.', {
    graph: flag('Reads groups from Microsoft Graph if they do not fit into the token.'),
    graphUrl: v.optional(
      secureUrl(
        'Address of Microsoft Graph in a national cloud. Default: https://graph.microsoft.com.',
      ),
    ),
  }),
  googleWorkspaceGroups: optionalObject(
    "Reads the groups of people from Google Workspace by e-mail address, at logins and re-checks. Google's ID tokens have no groups.",
    {
      serviceAccountKeyFile: text(
        'File with the JSON key of a service account with domain-wide delegation, relative to the providers file. A change applies without a restart.',
      ),
      adminEmail: v.pipe(
        text(
          'E-mail address of the administrator for which the service account reads users and groups.',
        ),
        v.check((value) => /^[^@\s]+@[^@\s]+$/.test(value), 'must be an e-mail address.'),
      ),
      nestedGroups: flag('Also counts the parent groups of a group, with one request per group.'),
      directoryUrl: v.optional(
        secureUrl(
          'Address of the Admin SDK API behind Private Service Connect. Default: https://admin.googleapis.com.',
        ),
      ),
    },
  ),
  signals: SIGNALS,
  ui: section('Hints for clients.', {
    iconHint: optionalText('Name of an icon that clients may know, such as okta.'),
    buttonColor: v.optional(
      pattern('a colour such as #1a2b3c', /^#[0-9a-fA-F]{6}$/, 'Colour of the button.'),
    ),
  }),
});

export type ProviderEntry = v.InferOutput<typeof PROVIDER_ENTRY>;

/** The 31st of a shorter month would be a day of the next one. */
function isDay(date: string): boolean {
  const at = Date.parse(date);
  return !Number.isNaN(at) && new Date(at).toISOString().slice(0, 10) === date;
}
