import * as v from 'valibot';
import { userEntryFailure } from '../../policy/eligibility/eligibility.js';
import { isLoopbackHost } from '../../policy/flow/return-address.js';
import { PROVIDER_ID_PATTERN } from '../environment/variable.js';
import { closestName } from '../environment/unknown-names.js';
import { SIGNATURE_ALGORITHMS } from '../providers.config.js';

/** Ids that mean something else in the lists of providers. */
export const RESERVED_PROVIDER_IDS: readonly string[] = [
  'key_challenge',
  'mtls',
  'anonymous',
  'invitation',
];

/** The fields of an entry that name files with credentials of the client. */
export const CREDENTIAL_FILES = [
  ...(['clientSecretFile', 'clientKeyFile', 'clientAssertionFile'] as const),
] as const;

/** The fields of an entry that name files, or hold fields that do. */
export const FIELDS_WITH_FILES = [...CREDENTIAL_FILES, 'googleWorkspaceGroups'] as const;

const LONGEST_TEXT = 2048;
const TEXT = `must be a text of 1 to ${LONGEST_TEXT} characters.`;
const TEXTS = 'must be an array of texts.';
const ADDRESS = 'must be a full address that starts with https://.';
const INSECURE = 'must use https (http only on a loopback host).';
const SECONDS = 'must be a whole number from 1 to 120.';
const FLAG = 'must be true or false.';

const isText = (value: string): boolean => value.trim() !== '' && value.length <= LONGEST_TEXT;

export const text = (doc: string) =>
  v.pipe(v.string(TEXT), v.minLength(1, TEXT), v.check(isText, TEXT), v.description(doc));

const pattern = (shape: string, expression: RegExp, doc: string) =>
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

/** https, or http on a loopback host: what is sent there is a secret. */
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

/** Compared without case, so kept in lower case. Empty = no restriction. */
const allowRule = (doc: string) => texts(doc, (value) => value.toLowerCase());

/** An object without other fields. Several unknown fields make one message, a line each. */
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
    // Valibot takes an array for an object.
    schema['~run'](Array.isArray(dataset.value) ? { value: null } : dataset, config);
  return { ...schema, '~run': run };
};

/** An object that may be left out, as each of its fields may. */
const section = <const T extends v.ObjectEntries>(doc: string, entries: T) => {
  const schema = v.pipe(object(entries), v.description(doc));
  return v.optional(schema, {} as v.InferInput<typeof schema>);
};

/** One entry of the providers file: reader, JSON schema and pages are made from this schema. */
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
  issuer: secureUrl('Issuer, exactly as its discovery document says.'),
  formerIssuers: v.optional(
    texts(
      'Issuers whose subjects are the same people, after the address of the provider changed. Identities of any other issuer never match.',
    ),
    [],
  ),
  clientId: text('Client id registered with the provider.'),
  clientSecret: v.optional(
    text(
      'Client secret; one of this, clientSecretFile, clientKeyFile and clientAssertionFile is needed.',
    ),
  ),
  clientSecretFile: v.optional(
    text(
      'File with the client secret; relative to the providers file. A changed file is used without a restart.',
    ),
  ),
  clientKeyFile: v.optional(
    text(
      'File with private keys (PEM: RSA, EC or Ed25519) for `private_key_jwt` (RFC 7523). The first one signs; all are published at `/v1/oauth/<id>/jwks`. A changed file is used without a restart.',
    ),
  ),
  clientAssertionFile: v.optional(
    text(
      'File with a client assertion (RFC 7523) that is renewed outside, such as the projected token of a Kubernetes service account. It is read whenever it is used.',
    ),
  ),
  clientAssertionAudience: v.optional(
    choice(
      ['issuer', 'tokenEndpoint'],
      'Audience of assertions signed with clientKeyFile: the issuer, or the address of the token endpoint for providers that want it.',
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
        'Scopes to ask for; openid is needed, offline_access gives a refresh token at most providers.',
      ),
      v.check((scopes) => scopes.includes('openid'), 'must have openid.'),
    ),
    ['openid', 'profile', 'email'],
  ),
  prompt: v.optional(
    choice(
      ['login', 'consent', 'select_account'],
      'What the provider asks people at every login. Some give a refresh token for offline_access only with consent (OpenID Connect Core 1.0, 11).',
    ),
  ),
  httpTimeoutSeconds: v.optional(
    v.pipe(
      v.number(SECONDS),
      v.integer(SECONDS),
      v.minValue(1, SECONDS),
      v.maxValue(120, SECONDS),
      v.description('Time one request to the provider may take.'),
    ),
    30,
  ),
  claims: section('Names of the claims that are read.', {
    login: v.optional(text('Claim with the login name.'), 'preferred_username'),
    email: v.optional(
      text(
        'Claim with the e-mail address. Any but email counts only with the emailVerification trustedIssuer.',
      ),
      'email',
    ),
    groups: v.optional(text('Claim with the groups.'), 'groups'),
  }),
  allow: section(
    'Who is eligible, compared without case. Every rule that is not empty must be met.',
    {
      usersAllowlist: v.optional(
        v.pipe(
          allowRule(
            'People: `sub:` and the subject, `email:` and a verified address, `login:` and the login name. Without a prefix, an entry with @ is a verified address, any other a login or subject. Empty = no restriction.',
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
      'Whether an e-mail address counts only with email_verified beside the claim email, or because this issuer says so.',
    ),
    'required',
  ),
  fetchUserInfo: flag('Reads the userinfo endpoint besides the ID token.'),
  storeRefreshToken: v.optional(
    v.pipe(
      v.boolean(FLAG),
      v.description(
        'Keeps the refresh token, sealed, so that eligibility can be checked again. Default: true with allow rules, else false.',
      ),
    ),
  ),
  idTokenSigningAlg: v.optional(
    choice(
      SIGNATURE_ALGORITHMS,
      'Algorithm that the client is registered with (id_token_signed_response_alg): ID tokens and logout tokens with another one are refused. Default: those that the discovery document lists.',
    ),
  ),
  logoutTokenType: v.optional(
    choice(
      ['logout+jwt', 'any'],
      'Type (typ) of logout tokens. Back-Channel Logout 1.0 recommends logout+jwt; many providers, as the conformance suite, send none.',
    ),
    'any',
  ),
  entra: section('Microsoft Entra ID.', {
    graph: flag('Reads groups that do not fit into the token from Microsoft Graph.'),
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
          'File with the JSON key of a service account with domain-wide delegation; relative to the providers file. A changed file is used without a restart.',
        ),
        adminEmail: v.pipe(
          text(
            'E-mail address of the administrator that the service account acts for when it reads users and groups.',
          ),
          v.check((value) => /^[^@\s]+@[^@\s]+$/.test(value), 'must be an e-mail address.'),
        ),
        nestedGroups: flag(
          'Counts the groups that a group is a member of as well, with one request a group.',
        ),
        directoryUrl: v.optional(
          secureUrl(
            'Address of the Admin SDK API where it is reached through Private Service Connect. Default: https://admin.googleapis.com.',
          ),
        ),
      }),
      v.description(
        "Reads the groups of people, by their e-mail addresses, from Google Workspace, at logins and re-checks: Google's ID tokens have none.",
      ),
    ),
  ),
  ui: section('Hints for clients.', {
    iconHint: v.optional(text('Icon that clients may know, such as okta.')),
    buttonColor: v.optional(
      pattern('a colour such as #1a2b3c', /^#[0-9a-fA-F]{6}$/, 'Colour of the button.'),
    ),
  }),
});

export type ProviderEntry = v.InferOutput<typeof PROVIDER_ENTRY>;

/** What is wrong with sending a secret to the address; null when nothing is. */
export function insecureFailure(address: URL): string | null {
  return address.protocol === 'https:' || isLoopbackHost(address.hostname) ? null : INSECURE;
}

function isPlainAddress(value: string): boolean {
  const { username, password, search, hash } = new URL(value);
  return [username, password, search, hash].every((part) => part === '');
}

/** Whole names only: a pasted secret in the place of a field name is not repeated. */
function unknownField(name: string, known: readonly string[]): string {
  const meant = closestName(name, known);
  if (meant !== null) {
    return `has a field that is not known; did you mean ${meant}?`;
  }
  return /^[a-z]\w{0,24}$/i.test(name)
    ? `has the field ${name}, which is not known.`
    : 'has a field that is not known.';
}
