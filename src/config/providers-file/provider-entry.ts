import * as v from 'valibot';
import { userEntryFailure } from '../../policy/eligibility/eligibility.js';
import { isLoopbackHost } from '../../policy/flow/return-address.js';
import { closestName } from '../environment/closest-name.js';
import { PROVIDER_ID_PATTERN } from '../environment/variable.js';
import { SIGNATURE_ALGORITHMS } from './provider-settings.js';

/** Ids with another meaning in the lists of providers. */
export const RESERVED_PROVIDER_IDS: readonly string[] = [
  'key_challenge',
  'mtls',
  'anonymous',
  'invitation',
];

export const CREDENTIAL_FILES = [
  ...(['clientSecretFile', 'clientKeyFile', 'clientAssertionFile'] as const),
] as const;

export const FIELDS_WITH_FILES = [...CREDENTIAL_FILES, 'googleWorkspaceGroups'] as const;

const LONGEST_TEXT = 2048;
const TEXT = `must be a text of 1 to ${LONGEST_TEXT} characters.`;
const TEXTS = 'must be an array of texts.';
const ADDRESS = 'must be a full address that starts with https://.';
const INSECURE = 'must use https (http only on a loopback host).';
const SECONDS = 'must be a whole number from 1 to 120.';
const PERCENT = 'must be a whole number from 1 to 100.';
const DATE = 'must be a date such as 2027-01-31.';
const FLAG = 'must be true or false.';

const isText = (value: string): boolean => value.trim() !== '' && value.length <= LONGEST_TEXT;

export const text = (doc: string) =>
  v.pipe(v.string(TEXT), v.minLength(1, TEXT), v.check(isText, TEXT), v.description(doc));

export const pattern = (shape: string, expression: RegExp, doc: string) =>
  v.pipe(
    v.string(`must be ${shape}.`),
    v.regex(expression, `must be ${shape}.`),
    v.description(doc),
  );

const url = (doc: string) =>
  v.pipe(
    v.string(ADDRESS),
    v.url(ADDRESS),
    v.check((value) => isText(value) && /^https?:$/.test(new URL(value).protocol), ADDRESS),
    v.check(isPlainAddress, 'must not have a user name, query or fragment.'),
    v.description(doc),
  );

/** https, or http on a loopback host, because secrets are sent to the address. */
const secureUrl = (doc: string) =>
  v.pipe(
    url(doc),
    v.check((value) => insecureFailure(new URL(value)) === null, INSECURE),
  );

export const flag = (doc: string) => v.optional(v.pipe(v.boolean(FLAG), v.description(doc)), false);

export const choice = <const T extends readonly string[]>(values: T, doc: string) => {
  const words = values.map((value) => JSON.stringify(value)).join(' or ');
  return v.pipe(v.picklist(values, `must be ${words}.`), v.description(doc));
};

const item = v.pipe(v.string(TEXTS), v.minLength(1, TEXTS), v.check(isText, TEXTS));

export const texts = (doc: string, normalize = (value: string) => value) =>
  v.pipe(
    v.array(item, TEXTS),
    v.transform((items) => [...new Set(items.map((one) => normalize(one.trim())))]),
    v.description(doc),
  );

/** Comparisons ignore case, so values are stored in lower case. Empty = no restriction. */
const allowRule = (doc: string) => texts(doc, (value) => value.toLowerCase());

/** Refuses unknown fields in one message, one per line. */
export const object = <const T extends v.ObjectEntries>(entries: T) => {
  const schema = v.strictObject(entries, ({ expected, received, path }) => {
    if (expected !== 'never') {
      return received === 'undefined' ? 'is missing.' : 'must be an object.';
    }
    const known = Object.keys(entries);
    const given = Object.keys(path?.at(-1)?.input as object);
    const unknown = given.filter((name) => !known.includes(name));
    return unknown.map((name) => unknownField(name, known)).join('\n');
  });
  const run: (typeof schema)['~run'] = (dataset, config) =>
    // Valibot accepts an array as an object.
    schema['~run'](Array.isArray(dataset.value) ? { value: null } : dataset, config);
  return { ...schema, '~run': run };
};

const section = <const T extends v.ObjectEntries>(doc: string, entries: T) => {
  const schema = v.pipe(object(entries), v.description(doc));
  return v.optional(schema, {} as v.InferInput<typeof schema>);
};

/**
 * The reader, the JSON schema and the documentation of the providers file are derived from this.
 */
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
  displayName: v.optional(text('Name that people see. Default: the id.')),
  issuer: secureUrl('Issuer, exactly as in its discovery document.'),
  formerIssuers: v.optional(
    texts(
      'Earlier issuers of the same provider, with the same subjects. Identities of any other issuer never match.',
    ),
    [],
  ),
  clientId: text('Client id registered with the provider.'),
  clientSecret: v.optional(
    text(
      'Client secret. One of this, clientSecretFile, clientKeyFile and clientAssertionFile is needed.',
    ),
  ),
  clientSecretFile: v.optional(
    text(
      'File with the client secret, relative to the providers file. A change applies without a restart.',
    ),
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
  clientKeyFile: v.optional(
    text(
      'PEM file with private keys (RSA, EC or Ed25519) for `private_key_jwt` (RFC 7523). The first key signs. `/v1/oauth/<id>/jwks` publishes all. A change applies without a restart.',
    ),
  ),
  clientAssertionFile: v.optional(
    text(
      'File with a client assertion (RFC 7523) that another program renews, such as the token of a Kubernetes service account. Each use reads it.',
    ),
  ),
  clientAssertionAudience: v.optional(
    choice(
      ['issuer', 'tokenEndpoint'],
      'Audience of assertions that clientKeyFile signs: the issuer, or the address of the token endpoint.',
    ),
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
        'Requested scopes. openid is needed. At most providers offline_access gives a refresh token.',
      ),
      v.check((scopes) => scopes.includes('openid'), 'must have openid.'),
    ),
    ['openid', 'profile', 'email'],
  ),
  prompt: v.optional(
    choice(
      ['login', 'consent', 'select_account'],
      'Prompt at every login. Some providers give a refresh token for offline_access only with consent (OpenID Connect Core 1.0, 11).',
    ),
  ),
  httpTimeoutSeconds: v.optional(
    v.pipe(
      v.number(SECONDS),
      v.integer(SECONDS),
      v.minValue(1, SECONDS),
      v.maxValue(120, SECONDS),
      v.description('Longest time of one request to the provider.'),
    ),
    30,
  ),
  claims: section('Names of the claims that the server reads.', {
    login: v.optional(text('Claim with the login name.'), 'preferred_username'),
    email: v.optional(
      text(
        'Claim with the e-mail address. Another claim than email needs the emailVerification trustedIssuer.',
      ),
      'email',
    ),
    groups: v.optional(text('Claim with the groups.'), 'groups'),
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
            (domains) => !domains.some((domain) => domain.includes('@')),
            'must be domains without @.',
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
  emailVerification: v.optional(
    choice(
      ['required', 'trustedIssuer'],
      'Defines if an e-mail address needs the claim email_verified, or if this issuer is trusted with it.',
    ),
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
  idTokenSigningAlg: v.optional(
    choice(
      SIGNATURE_ALGORITHMS,
      'Registered algorithm of ID tokens and logout tokens. Others are refused. Default: those of the discovery document.',
    ),
  ),
  logoutTokenType: v.optional(
    choice(
      ['logout+jwt', 'any'],
      'Type (typ) of logout tokens. Back-Channel Logout 1.0 recommends logout+jwt, but many providers send none.',
    ),
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
  googleWorkspaceGroups: v.optional(
    v.pipe(
      object({
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
      }),
      v.description(
        "Reads the groups of people from Google Workspace by e-mail address, at logins and re-checks. Google's ID tokens have no groups.",
      ),
    ),
  ),
  signals: section('Signals with which the provider or its directory reports leavers.', {
    scim: v.optional(
      v.pipe(
        object({
          token: v.optional(
            text('Bearer token of the directory. Either this or tokenFile is needed.'),
          ),
          tokenFile: v.optional(
            text(
              'File with the bearer token of the directory, at least 32 characters, relative to the providers file. During a rotation it has two, one a line. A change applies without a restart.',
            ),
          ),
          match: v.optional(
            choice(
              ['externalId', 'oid', 'userName', 'email'],
              'Attribute of SCIM that names an identity: `externalId` is the subject, with `oid` it is the object id of Microsoft Entra ID, `userName` is the login and `email` the verified e-mail address.',
            ),
            'externalId',
          ),
          required: flag(
            'Refuses people that the directory does not show as active. Without effect until it has shown one.',
          ),
          deactivationAlarm: v.optional(
            v.pipe(
              v.number(PERCENT),
              v.integer(PERCENT),
              v.minValue(1, PERCENT),
              v.maxValue(100, PERCENT),
              v.description(
                'Percentage of the people whose deactivation within an hour raises an alarm, at least 20 people.',
              ),
            ),
            10,
          ),
        }),
        v.description(
          'Accepts SCIM 2.0 requests of a directory at `/v1/scim/<id>/v2`, to end the access of leavers at once.',
        ),
      ),
    ),
    globalTokenRevocation: v.optional(
      v.pipe(
        object({
          issuer: url(
            'Issuer (iss) of the tokens of the requests, such as the address of the Okta organization.',
          ),
          subject: text('Subject (sub) of these tokens: the id of the sending application.'),
          jwksUri: secureUrl('Address of the public keys (JWK set) that verify these tokens.'),
        }),
        v.description(
          'Accepts universal logout (Global Token Revocation) at `/v1/signals/<id>/global-token-revocation`. Needs SERVICE_PUBLIC_URL.',
        ),
      ),
    ),
  }),
  ui: section('Hints for clients.', {
    iconHint: v.optional(text('Name of an icon that clients may know, such as okta.')),
    buttonColor: v.optional(
      pattern('a colour such as #1a2b3c', /^#[0-9a-fA-F]{6}$/, 'Colour of the button.'),
    ),
  }),
});

export type ProviderEntry = v.InferOutput<typeof PROVIDER_ENTRY>;

/** The reason against sending a secret to the address, or null. */
export function insecureFailure(address: URL): string | null {
  return address.protocol === 'https:' || isLoopbackHost(address.hostname) ? null : INSECURE;
}

/** The 31st of a shorter month would be a day of the next one. */
function isDay(date: string): boolean {
  const at = Date.parse(date);
  return !Number.isNaN(at) && new Date(at).toISOString().slice(0, 10) === date;
}

function isPlainAddress(value: string): boolean {
  const { username, password, search, hash } = new URL(value);
  return [username, password, search, hash].every((part) => part === '');
}

/** Names the field only if it looks like a name, so that a pasted secret is not repeated. */
function unknownField(name: string, known: readonly string[]): string {
  const meant = closestName(name, known);
  if (meant !== null) {
    return `has a field that is not known; did you mean ${meant}?`;
  }
  return /^[a-z]\w{0,24}$/i.test(name)
    ? `has the field ${name}, which is not known.`
    : 'has a field that is not known.';
}
