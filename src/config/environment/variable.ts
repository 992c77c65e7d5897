import { registerAs } from '@nestjs/config';
import type { Values, VariableName } from './env.js';
import type { CertificateAllowRules } from '../rules/certificate-rules.js';
import type { ProviderSettings } from '../providers.config.js';

/** Heading under which a variable appears in the generated pages. */
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
  | 'Keyless accounts'
  | 'OAuth return address'
  | 'Client hints'
  | 'Identity providers'
  | 'GitHub'
  | 'Client certificates (mTLS)'
  | 'Metrics and audit'
  | 'Administration';

interface Described {
  readonly group: VariableGroup;
  /** One sentence for the operator: what it does, and what the empty value means. */
  readonly doc: string;
  /** A value that is never printed; it can also be read from the file that `NAME_FILE` names. */
  readonly secret?: true;
  /** The name in lower case is read too, and counts first, as other programs do with this name. */
  readonly orLowerCase?: true;
  /** Said in place of the default, when the default is worked out from other variables. */
  readonly defaultDoc?: string;
}

export interface IntegerVariable extends Described {
  readonly type: 'integer';
  readonly default: number | null;
  readonly min: number;
  readonly max: number;
  /** Values beyond the range are moved to its edge; without it they are refused. */
  readonly clamp?: true;
}

export interface StringVariable extends Described {
  readonly type: 'string';
  readonly default: string | null;
  readonly pattern?: RegExp;
  /** What the pattern asks for, to complete "must be ...". */
  readonly shape?: string;
  readonly minBytes?: number;
}

export interface UrlVariable extends Described {
  readonly type: 'url';
  readonly default: string | null;
  /** Without the colon; absent = any scheme (the return address has rules of its own). */
  readonly schemes?: readonly string[];
}

export interface CsvVariable extends Described {
  readonly type: 'csv';
  readonly default: readonly string[];
  readonly values?: readonly string[];
  readonly pattern?: RegExp;
  /** What each item must be, to complete "every item must be ...". */
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
  /** A comma-separated list of IP addresses and CIDR ranges. */
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

/** The type of a variable's value once parsed; null only where the table's default is null. */
export type ValueOf<V> = ParsedOf<V> | (V extends { default: null } ? null : never);

/** What distinguishes a variable from the others of its group, without its text. */
type Declaration<V = Variable> = V extends Variable ? Omit<V, 'group' | 'doc'> : never;

/** Declares the variables of one group: each with its type, default and limits, and its `doc`. */
export function variablesOf(group: VariableGroup) {
  return <const Declared extends Declaration>(
    declared: Declared,
    doc: string,
  ): Declared & Described => ({ ...declared, group, doc });
}

/** Shape of a configured provider's id, in lists and in the providers file. */
export const PROVIDER_ID_PATTERN = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** Rows of lists of providers start from this one. */
export const PROVIDER_LIST = {
  type: 'csv',
  default: [],
  pattern: PROVIDER_ID_PATTERN,
  shape: 'a provider id (lower-case letters, digits, - and _)',
  lowerCase: true,
} as const;

/** What start-up has read and checked, from which each namespace builds its slice. */
export interface Checked {
  readonly values: Values;
  readonly providers: readonly ProviderSettings[];
  /** The files of secret variables that are given in one. */
  readonly secretFiles: ReadonlyMap<VariableName, string>;
  /** PEM of the additional certificate authorities; null = none. */
  readonly caBundle: string | null;
  readonly certificateRules: CertificateAllowRules;
}

/**
 * A namespace of Nest's configuration, from what was checked. Nest calls its factory without
 * arguments, and only `AppConfigModule.forRoot` can load one: all variables are checked together, so
 * that one message names every problem.
 */
export function namespaceOf<Slice extends object>(
  name: string,
  build: (checked: Checked) => Slice,
) {
  return registerAs(name, (checked?: Checked): Readonly<Slice> => {
    if (checked === undefined) {
      throw new Error(`Load the namespace ${name} with AppConfigModule.forRoot(settings).`);
    }
    return build(checked);
  });
}
