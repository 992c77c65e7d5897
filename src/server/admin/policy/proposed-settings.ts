import { AppError, invalidRequest } from '../../../common/errors.js';
import { parseJson } from '../../../common/parse-json.js';
import { isRecord } from '../../../core/protocol/is-record.js';
import { readEnvironment } from '../../config/config.module.js';
import { ConfigurationError } from '../../config/environment/configuration-error.js';
import {
  VARIABLE_NAMES,
  variableOf,
  type VariableName,
  type Settings,
} from '../../config/settings.js';
import { isKnownName, unknownName } from '../../config/read-environment.js';
import { FIELDS_WITH_FILES } from '../../config/providers-file/provider-entry.js';
import { resolveSettings } from '../../config/resolve-settings.js';

const MAX_VARIABLES = 100;
const MAX_NAME = 100;
export const PROVIDERS_TEXT = 'AUTH_PROVIDERS_CONFIG_JSON';
/** Its entries name files. */
const RESOURCE_SERVERS_TEXT = 'AUTH_RESOURCE_SERVERS_CONFIG_JSON';
const CERTIFICATE_RULES_FILE = 'SERVICE_FEATURE_AUTH_MTLS__RULES_PATH';
const CERTIFICATE_RULES = [
  'SERVICE_FEATURE_AUTH_MTLS__ALLOWED_ISSUERS',
  'SERVICE_FEATURE_AUTH_MTLS__ALLOWED_EMAIL_DOMAINS',
] as const;

/** Replaces an omitted client secret: a plan sends no requests to providers. */
const PLACEHOLDER = 'not used by a plan';
const TOKEN_PLACEHOLDER = 'a-token-that-no-plan-ever-uses-for-anything';

/**
 * Returns the settings with some variables changed. They may name no files, not even in an entry of
 * a provider: errors would reveal that those exist, and what they contain.
 * @throws AppError `invalid-request` with each problem by its variable
 */
export function proposedSettings(changes: Readonly<Record<string, unknown>>): Settings {
  const names = Object.keys(changes);
  if (names.length > MAX_VARIABLES) {
    throw invalidRequest('environment', `environment must have at most ${MAX_VARIABLES} names.`);
  }
  const details = names.flatMap((name) => problemOf(name.slice(0, MAX_NAME), changes[name]));
  if (details.length > 0) {
    throw new AppError('invalid-request', { details });
  }
  const environment = { ...readEnvironment(), ...(changes as Record<string, string>) };
  if (names.includes(PROVIDERS_TEXT)) {
    environment[PROVIDERS_TEXT] = providersWithoutFiles(environment[PROVIDERS_TEXT] ?? '');
    // Replaced by the proposed providers.
    delete environment['AUTH_PROVIDERS_CONFIG_PATH'];
    delete environment[`${PROVIDERS_TEXT}_FILE`];
  }
  replaceCertificateRules(names, environment);
  try {
    return resolveSettings(environment).settings;
  } catch (error) {
    if (error instanceof ConfigurationError) {
      const details = error.problems.map(({ variable, message }) => ({
        path: `environment.${variable}`,
        message,
      }));
      throw new AppError('invalid-request', { details });
    }
    throw error;
  }
}

/**
 * The file has both variables, so both are required: an omitted one would allow any certificate.
 */
function replaceCertificateRules(
  names: readonly string[],
  environment: Record<string, string | undefined>,
): void {
  const missing = CERTIFICATE_RULES.filter((name) => !names.includes(name));
  const [first] = missing;
  if ((environment[CERTIFICATE_RULES_FILE] ?? '') === '' || missing.length === 2) {
    return;
  }
  if (first !== undefined) {
    throw invalidRequest(
      `environment.${first}`,
      'must be given too: this server reads both lists of certificate rules from a file.',
    );
  }
  delete environment[CERTIFICATE_RULES_FILE];
}

function problemOf(name: string, text: unknown): { path: string; message: string }[] {
  const path = `environment.${name}`;
  if (!isKnownName(name)) {
    return [{ path, message: unknownName(name) }];
  }
  const message = 'must be the text of a variable that neither names a file nor holds a secret.';
  return mayBePlanned(name) && typeof text === 'string' ? [] : [{ path, message }];
}

export function mayBePlanned(name: string): name is VariableName {
  if (!VARIABLE_NAMES.includes(name as VariableName)) {
    return false;
  }
  const { type, secret } = variableOf(name as VariableName);
  return (
    name === PROVIDERS_TEXT ||
    (type !== 'path' && secret !== true && name !== RESOURCE_SERVERS_TEXT)
  );
}

/** The text is written again, so that only checked parts are read. */
function providersWithoutFiles(text: string): string {
  const entries = text.trim() === '' ? [] : parseJson(text);
  if (entries === undefined) {
    throw invalidRequest(`environment.${PROVIDERS_TEXT}`, 'is not valid JSON.');
  }
  return JSON.stringify(Array.isArray(entries) ? entries.map(withoutFiles) : entries);
}

function withoutFiles(entry: unknown, index: number): unknown {
  if (!isRecord(entry)) {
    return entry;
  }
  refuseFiles(entry, FIELDS_WITH_FILES, `[${index}]`);
  const clientSecret = entry['clientSecret'] ?? PLACEHOLDER;
  return { ...entry, ...withoutCredentials(entry, index), clientSecret };
}

/** A plan judges `required`, and needs neither the token of the directory nor the stream. */
function withoutCredentials({ signals }: Readonly<Record<string, unknown>>, index: number): object {
  if (!isRecord(signals)) {
    return {};
  }
  const { scim, sharedSignals, ...others } = signals;
  refuseFiles(scim, ['tokenFile'], `[${index}].signals.scim`);
  refuseFiles(
    sharedSignals,
    ['pushTokenFile', 'managementTokenFile', 'managementClient'],
    `[${index}].signals.sharedSignals`,
  );
  const directory = isRecord(scim) ? { scim: { ...scim, token: TOKEN_PLACEHOLDER } } : {};
  return { signals: { ...others, ...directory } };
}

function refuseFiles(section: unknown, names: readonly string[], path: string): void {
  const file = isRecord(section) && names.find((name) => Object.hasOwn(section, name));
  if (typeof file === 'string') {
    throw invalidRequest(
      `environment.${PROVIDERS_TEXT}`,
      `${path}.${file} must be left out: a plan reads no files and needs no credentials.`,
    );
  }
}
