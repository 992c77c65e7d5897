import { PROVIDER_ID_PATTERN } from './env.auth.js';

interface Field {
  readonly doc: string;
  readonly required?: true;
}

interface TextField extends Field {
  readonly type: 'text';
  readonly default?: string;
  readonly pattern?: RegExp;
  /** What the pattern asks for, to complete "must be ...". */
  readonly shape?: string;
}

interface UrlField extends Field {
  readonly type: 'url';
  /** https, or http on a loopback host: what is sent there is a secret. */
  readonly secure?: true;
}

interface FlagField extends Field {
  readonly type: 'flag';
  readonly default: boolean;
}

interface IntegerField extends Field {
  readonly type: 'integer';
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

interface ChoiceField extends Field {
  readonly type: 'choice';
  readonly values: readonly string[];
  readonly default?: string;
}

interface TextsField extends Field {
  readonly type: 'texts';
  readonly default: readonly string[];
  readonly lowerCase?: true;
}

interface ObjectField extends Field {
  readonly type: 'object';
  readonly fields: Fields;
}

export type ProviderField =
  TextField | UrlField | FlagField | IntegerField | ChoiceField | TextsField | ObjectField;

export type Fields = Readonly<Record<string, ProviderField>>;

const ALLOW_RULE = { type: 'texts', default: [], lowerCase: true } as const;

/** One entry of the providers file, declared once: reader, JSON schema and pages come from here. */
export const PROVIDER_FIELDS = {
  id: {
    type: 'text',
    required: true,
    pattern: PROVIDER_ID_PATTERN,
    shape: 'lower-case letters, digits, - and _ (up to 64, not starting with - or _)',
    doc: 'Id of the provider in routes and in the other variables.',
  },
  type: { type: 'choice', required: true, values: ['oidc'], doc: 'Protocol of the provider.' },
  displayName: { type: 'text', doc: 'Name that people see. Default: the id.' },
  issuer: {
    type: 'url',
    required: true,
    secure: true,
    doc: 'Issuer, exactly as its discovery document says.',
  },
  formerIssuers: {
    type: 'texts',
    default: [],
    doc: 'Issuers whose subjects are the same people, after the address of the provider changed. Identities of any other issuer never match.',
  },
  clientId: { type: 'text', required: true, doc: 'Client id registered with the provider.' },
  clientSecret: { type: 'text', doc: 'Client secret; one of this and clientSecretFile is needed.' },
  clientSecretFile: {
    type: 'text',
    doc: 'File with the client secret; relative to the providers file.',
  },
  redirectUrl: {
    type: 'url',
    doc: 'Callback registered with the provider. Default: SERVICE_PUBLIC_URL + `/v1/oauth/<id>/callback`.',
  },
  scopes: {
    type: 'texts',
    default: ['openid', 'profile', 'email'],
    doc: 'Scopes to ask for; openid is needed, offline_access gives a refresh token at most providers.',
  },
  prompt: {
    type: 'choice',
    values: ['login', 'consent', 'select_account'],
    doc: 'What the provider asks people at every login. Some give a refresh token for offline_access only with consent (OpenID Connect Core 1.0, 11).',
  },
  httpTimeoutSeconds: {
    type: 'integer',
    default: 30,
    min: 1,
    max: 120,
    doc: 'Time one request to the provider may take.',
  },
  claims: {
    type: 'object',
    doc: 'Names of the claims that are read.',
    fields: {
      login: { type: 'text', default: 'preferred_username', doc: 'Claim with the login name.' },
      email: {
        type: 'text',
        default: 'email',
        doc: 'Claim with the e-mail address. Any but email counts only with the emailVerification trustedIssuer.',
      },
      groups: { type: 'text', default: 'groups', doc: 'Claim with the groups.' },
    },
  },
  allow: {
    type: 'object',
    doc: 'Who is eligible, compared without case. Every rule that is not empty must be met.',
    fields: {
      usersAllowlist: {
        ...ALLOW_RULE,
        doc: 'People: `sub:` and the subject, `email:` and a verified address, `login:` and the login name. Without a prefix, an entry with @ is a verified address, any other a login or subject. Empty = no restriction.',
      },
      emailDomains: {
        ...ALLOW_RULE,
        doc: 'Domains of the verified e-mail address. Empty = no restriction.',
      },
      groupsAny: { ...ALLOW_RULE, doc: 'Groups of which one is needed. Empty = no restriction.' },
      groupsAll: { ...ALLOW_RULE, doc: 'Groups that are all needed. Empty = no restriction.' },
    },
  },
  emailVerification: {
    type: 'choice',
    values: ['required', 'trustedIssuer'],
    default: 'required',
    doc: 'Whether an e-mail address counts only with email_verified beside the claim email, or because this issuer says so.',
  },
  fetchUserInfo: {
    type: 'flag',
    default: false,
    doc: 'Reads the userinfo endpoint besides the ID token.',
  },
  storeRefreshToken: {
    type: 'flag',
    default: false,
    doc: 'Keeps the refresh token, sealed, so that eligibility can be checked again.',
  },
  entra: {
    type: 'object',
    doc: 'Microsoft Entra ID.',
    fields: {
      graph: {
        type: 'flag',
        default: false,
        doc: 'Reads groups that do not fit into the token from Microsoft Graph.',
      },
      graphUrl: {
        type: 'url',
        secure: true,
        doc: 'Address of Microsoft Graph in a national cloud. Default: https://graph.microsoft.com.',
      },
    },
  },
  ui: {
    type: 'object',
    doc: 'Hints for clients.',
    fields: {
      iconHint: { type: 'text', doc: 'Icon that clients may know, such as okta.' },
      buttonColor: {
        type: 'text',
        pattern: /^#[0-9a-fA-F]{6}$/,
        shape: 'a colour such as #1a2b3c',
        doc: 'Colour of the button.',
      },
    },
  },
} as const satisfies Fields;

type Filled<F> = F extends { required: true } | { default: string } ? never : null;

type FieldValue<F> = F extends { type: 'object'; fields: infer G }
  ? Entry<G>
  : F extends { type: 'flag' }
    ? boolean
    : F extends { type: 'integer' }
      ? number
      : F extends { type: 'texts' }
        ? readonly string[]
        : F extends { type: 'choice'; values: readonly (infer T)[] }
          ? T | Filled<F>
          : string | Filled<F>;

type Entry<G> = { readonly [Name in keyof G]: FieldValue<G[Name]> };

/** A checked entry with its defaults filled in. */
export type ProviderEntry = Entry<typeof PROVIDER_FIELDS>;
