import { AppError, invalidRequest } from '../../common/errors.js';
import { parseJson } from '../../common/parse-json.js';
import { readEnvironment } from '../../config/config.module.js';
import { ConfigurationError } from '../../config/configuration-error.js';
import { VARIABLE_NAMES, variableOf, type VariableName } from '../../config/environment/env.js';
import { FIELDS_WITH_FILES } from '../../config/providers-file/provider-entry.js';
import { resolveSettings } from '../../config/resolve-settings.js';
import type { Settings } from '../../config/settings.js';

const MAX_VARIABLES = 100;
const PROVIDERS_TEXT = 'AUTH_PROVIDERS_CONFIG_JSON';
const CERTIFICATE_RULES_FILE = 'SERVICE_FEATURE_AUTH_MTLS__RULES_PATH';
const CERTIFICATE_RULES = [
  'SERVICE_FEATURE_AUTH_MTLS__ALLOWED_ISSUERS',
  'SERVICE_FEATURE_AUTH_MTLS__ALLOWED_EMAIL_DOMAINS',
] as const;

/** In place of the client secret that an entry leaves out: a plan asks no provider. */
const PLACEHOLDER = 'not used by a plan';

/**
 * The settings of this server with some variables changed. A caller may not name files, in an entry of
 * a provider either: errors would show whether they exist, and what they hold.
 *
 * @throws AppError `invalid-request` with each problem by its variable
 */
export function proposedSettings(changes: Readonly<Record<string, unknown>>): Settings {
  const names = Object.keys(changes);
  if (names.length > MAX_VARIABLES) {
    throw invalidRequest('environment', `environment must have at most ${MAX_VARIABLES} names.`);
  }
  for (const name of names) {
    if (!mayBePlanned(name) || typeof changes[name] !== 'string') {
      throw invalidRequest(
        `environment.${name.slice(0, 100)}`,
        'must be the text of a variable that neither names a file nor holds a secret.',
      );
    }
  }
  const environment = { ...readEnvironment(), ...(changes as Record<string, string>) };
  if (names.includes(PROVIDERS_TEXT)) {
    environment[PROVIDERS_TEXT] = providersWithoutFiles(environment[PROVIDERS_TEXT] ?? '');
    // In place of what the server reads the providers from.
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
 * Lets the variables stand in place of the file of certificate rules. Both have to be given: the file
 * has both, and one that was left out would allow any certificate.
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

function mayBePlanned(name: string): boolean {
  if (!VARIABLE_NAMES.includes(name as VariableName)) {
    return false;
  }
  const { type, secret } = variableOf(name as VariableName);
  return (
    name === PROVIDERS_TEXT || (type !== 'path' && secret !== true && name !== 'SERVICE_PRESET')
  );
}

/** The text is written anew, so that nothing is read of it but what was checked. */
function providersWithoutFiles(text: string): string {
  const entries = text.trim() === '' ? [] : parseJson(text);
  if (entries === undefined) {
    throw invalidRequest(`environment.${PROVIDERS_TEXT}`, 'is not valid JSON.');
  }
  return JSON.stringify(Array.isArray(entries) ? entries.map(withoutFiles) : entries);
}

function withoutFiles(entry: unknown, index: number): unknown {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) {
    return entry;
  }
  const file = FIELDS_WITH_FILES.find((name) => Object.hasOwn(entry, name));
  if (file !== undefined) {
    throw invalidRequest(
      `environment.${PROVIDERS_TEXT}`,
      `[${index}].${file} must be left out: a plan reads no files and needs no credentials.`,
    );
  }
  const { clientSecret }: { clientSecret?: unknown } = entry;
  return { ...entry, clientSecret: clientSecret ?? PLACEHOLDER };
}
