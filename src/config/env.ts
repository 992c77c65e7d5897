import { AUTH_VARIABLES } from './env.auth.js';
import { MTLS_VARIABLES } from './env.mtls.js';
import { OPERATIONS_VARIABLES } from './env.operations.js';
import { PROVIDER_VARIABLES } from './env.providers.js';
import { SERVER_VARIABLES } from './env.server.js';
import type { ValueOf, Variable } from './variable.js';

/** Every variable the server reads, each declared once; pages, checks and types come from here. */
export const ENV = {
  ...SERVER_VARIABLES,
  ...AUTH_VARIABLES,
  ...PROVIDER_VARIABLES,
  ...MTLS_VARIABLES,
  ...OPERATIONS_VARIABLES,
} as const satisfies Record<string, Variable>;

export type VariableName = keyof typeof ENV;

/** The parsed value of every variable, its default where the operator gave none. */
export type Values = { readonly [Name in VariableName]: ValueOf<(typeof ENV)[Name]> };

export const VARIABLE_NAMES = Object.keys(ENV) as VariableName[];

/** One row of the table, seen as the general type. */
export function variableOf(name: VariableName): Variable {
  return ENV[name];
}

/** The names of the variables that hold secrets: each can also be given as `NAME_FILE`. */
export const SECRET_NAMES = VARIABLE_NAMES.filter((name) => variableOf(name).secret === true);
