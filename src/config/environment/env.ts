import { ADMIN_VARIABLES } from '../admin.config.js';
import { AUTH_VARIABLES } from '../auth.config.js';
import { BRAND_VARIABLES } from '../brand.config.js';
import { BROWSER_VARIABLES } from '../browser.config.js';
import { ENCRYPTION_VARIABLES } from '../encryption.config.js';
import { HTTP_VARIABLES, RATE_LIMIT_VARIABLES } from '../http.config.js';
import { KEYLESS_VARIABLES } from '../keyless.config.js';
import { METRICS_VARIABLES } from '../metrics.config.js';
import { MTLS_VARIABLES } from '../mtls.config.js';
import { NETWORK_VARIABLES } from '../network.config.js';
import { PROVIDER_VARIABLES } from '../providers.config.js';
import { STORAGE_VARIABLES } from '../storage.config.js';
import { UPDATES_VARIABLES } from '../updates.config.js';
import type { ValueOf, Variable } from './variable.js';

/** Every variable the server reads, each declared once; pages, checks and types come from here. */
export const ENV = {
  ...HTTP_VARIABLES,
  ...BRAND_VARIABLES,
  ...NETWORK_VARIABLES,
  ...STORAGE_VARIABLES,
  ...RATE_LIMIT_VARIABLES,
  ...UPDATES_VARIABLES,
  ...AUTH_VARIABLES,
  ...ENCRYPTION_VARIABLES,
  ...KEYLESS_VARIABLES,
  ...BROWSER_VARIABLES,
  ...PROVIDER_VARIABLES,
  ...MTLS_VARIABLES,
  ...METRICS_VARIABLES,
  ...ADMIN_VARIABLES,
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
