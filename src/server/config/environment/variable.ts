import { registerAs } from '@nestjs/config';

export type EnvironmentText = Readonly<Record<string, string | undefined>>;

export type VariableGroup =
  | 'Server'
  | 'Network'
  | 'Storage'
  | 'Limits'
  | 'Account page'
  | 'Live updates'
  | 'Sign-up and login'
  | 'Offboarding'
  | 'Encryption'
  | 'Requests and answers'
  | 'Keyless accounts'
  | 'OAuth return address'
  | 'Client hints'
  | 'Identity providers'
  | 'GitHub'
  | 'Resource servers'
  | 'Client certificates (mTLS)'
  | 'Metrics and audit'
  | 'Administration';

interface Described {
  readonly group: VariableGroup;
  /** One sentence for the operator, which includes the meaning of the empty value. */
  readonly doc: string;
  /** Never printed. `NAME_FILE` may name a file that contains it. */
  readonly secret?: true;
  /** The file of the secret may have several lines. Default: only JSON may. */
  readonly multiLine?: true;
  /** The lower-case name is read first, as in other programs. */
  readonly orLowerCase?: true;
  /** Documented instead of the default, if the default depends on other variables. */
  readonly defaultDoc?: string;
}

export interface IntegerVariable extends Described {
  readonly type: 'integer';
  readonly default: number | null;
  readonly min: number;
  readonly max: number;
  /** True to clamp values to the range; otherwise values outside it are refused. */
  readonly clamp?: true;
}

export interface StringVariable extends Described {
  readonly type: 'string';
  readonly default: string | null;
  readonly pattern?: RegExp;
  /** The pattern in words, to complete "must be ...". */
  readonly shape?: string;
  readonly minBytes?: number;
}

export interface UrlVariable extends Described {
  readonly type: 'url';
  readonly default: string | null;
  /** Schemes without the colon; absent = any scheme (the return address has its own rules). */
  readonly schemes?: readonly string[];
  /** Returns what to write in place of a frequent mistake, and quotes nothing; null = none found. */
  readonly mistakeIn?: (address: string) => string | null;
}

export interface CsvVariable extends Described {
  readonly type: 'csv';
  readonly default: readonly string[];
  readonly values?: readonly string[];
  readonly pattern?: RegExp;
  /** The items in words, to complete "every item must be ...". */
  readonly shape?: string;
  readonly minBytes?: number;
  readonly lowerCase?: true;
  readonly nonEmpty?: true;
}

type Kind<Type extends string, Default> = Described & {
  readonly type: Type;
  readonly default: Default;
};

export type Variable =
  | Kind<'boolean', boolean | null>
  | (Kind<'enum', string | null> & { readonly values: readonly string[] })
  | Kind<'path', string | null>
  | Kind<'cidrs', readonly string[]>
  /** JSON text; its reader checks the content. */
  | Kind<'json', null>
  | IntegerVariable
  | StringVariable
  | UrlVariable
  | CsvVariable;

type ParsedOf<V> = V extends { type: 'boolean' }
  ? boolean
  : V extends { type: 'integer' }
    ? number
    : V extends { type: 'enum'; values: readonly (infer T)[] }
      ? T
      : V extends { type: 'csv'; values: readonly (infer T)[] }
        ? readonly T[]
        : V extends { type: 'csv' | 'cidrs' }
          ? readonly string[]
          : string;

/** The type of a variable's parsed value; it includes null only if the default is null. */
export type ValueOf<V> = ParsedOf<V> | (V extends { default: null } ? null : never);

export type ValuesOf<Table> = { readonly [Name in keyof Table]: ValueOf<Table[Name]> };

type Declaration<V = Variable> = V extends Variable ? Omit<V, 'group' | 'doc'> : never;

export function variablesOf(group: VariableGroup) {
  const declare = <const Declared extends Declaration>(
    declared: Declared,
    doc: string,
  ): Declared & Described => ({ ...declared, group, doc });
  return Object.assign(declare, {
    onByDefault: (doc: string) => declare({ type: 'boolean', default: true }, doc),
    offByDefault: (doc: string) => declare({ type: 'boolean', default: false }, doc),
    path: (doc: string) => declare({ type: 'path', default: null }, doc),
    list: (doc: string) => declare({ type: 'csv', default: [] }, doc),
    addresses: (doc: string) => declare({ type: 'cidrs', default: [] }, doc),
  });
}

export const PROVIDER_ID_PATTERN = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export const HOST_NAME = {
  type: 'string',
  pattern: /^[\w.:%-]+$/,
  shape: 'an IP address or a host name',
} as const;

export const NO_PLAIN_ADDRESS = 'must not have a user name, query or fragment.';

/** @param address one that `URL` can parse */
export function isPlainAddress(address: string): boolean {
  const { username, password, search, hash } = new URL(address);
  return [username, password, search, hash].every((part) => part === '');
}

/** The address of a server, to which paths are added. */
export const PLAIN_ADDRESS = {
  type: 'url',
  schemes: ['http', 'https'],
  default: null,
  mistakeIn: (address) =>
    URL.canParse(address) && !isPlainAddress(address) ? NO_PLAIN_ADDRESS : null,
} as const satisfies Partial<UrlVariable>;

export const PROVIDER_LIST = {
  type: 'csv',
  default: [],
  pattern: PROVIDER_ID_PATTERN,
  shape: 'a provider id (lower-case letters, digits, - and _)',
  lowerCase: true,
} as const;

/** The checked input of a namespace: the values of its table, and the content of files. */
export interface Checked<Table> {
  readonly values: ValuesOf<Table>;
  /** Returns the path of the file that a secret was read from; null = the variable itself. */
  readonly secretFile: (name: keyof Table) => string | null;
  /** PEM of the additional certificate authorities; null = none. */
  readonly caBundle: string | null;
}

/** Only `AppConfigModule.forRoot` loads it: one message lists the problems of all variables. */
export function namespaceOf<Input, Slice extends object>(
  name: string,
  build: (input: Input) => Slice,
) {
  return registerAs(name, (input?: Input): Readonly<Slice> => {
    if (input === undefined) {
      throw new Error(`Load the namespace ${name} with AppConfigModule.forRoot(settings).`);
    }
    return build(input);
  });
}
