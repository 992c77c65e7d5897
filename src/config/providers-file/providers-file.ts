import { dirname, resolve } from 'node:path';
import * as v from 'valibot';
import { parseJson } from '../../common/parse-json.js';
import { returnAddressFacts, type ReturnAddressValues } from '../browser.config.js';
import { hasAllowRules } from '../../policy/eligibility/provider-rules.js';
import type { ConfigurationReport } from '../configuration-error.js';
import type { Values } from '../environment/env.js';
import { readClientKeys } from './client-keys.js';
import { CREDENTIAL_FILES, PROVIDER_ENTRY, type ProviderEntry } from './provider-entry.js';
import { readServiceAccountKey } from './service-account-key.js';
import { readSmallFile } from '../environment-sources.js';
import type { OidcProviderSettings } from '../providers.config.js';
import { returnAddressFor } from '../../policy/flow/return-address.js';

const PATH = 'AUTH_PROVIDERS_CONFIG_PATH';
const JSON_TEXT = 'AUTH_PROVIDERS_CONFIG_JSON';

interface Source {
  readonly variable: string;
  readonly text: string;
  /** Where relative paths in it start. */
  readonly directory: string;
}

/** What the providers are read with. */
export type ProvidersFileValues = ReturnAddressValues &
  Pick<Values, typeof PATH | typeof JSON_TEXT>;

/** Reports a problem of a field, such as `.claims.login`; an empty one is the entry itself. */
export type ReportField = (field: string, message: string) => void;

/**
 * The OpenID Connect providers of the file or text that the operator named (contract, External
 * providers). Problems name the index and the field, never a value.
 */
export function readOidcProviders(
  values: ProvidersFileValues,
  report: ConfigurationReport,
): OidcProviderSettings[] {
  const source = sourceOf(values, report);
  const entries = source === null ? null : entriesOf(source, report);
  if (source === null || entries === null) {
    return [];
  }
  const providers: OidcProviderSettings[] = [];
  entries.forEach((value, index) => {
    const before = report.problems.length;
    const problem: ReportField = (field, message) =>
      report.problem(source.variable, `[${index}]${field} ${message}`);
    const entry = readEntry(PROVIDER_ENTRY, value, problem);
    if (entry === null) {
      return;
    }
    if (providers.some(({ id }) => id === entry.id)) {
      problem('.id', 'is the id of another entry.');
    }
    const credentials = credentialsOf(entry, source.directory, problem);
    const googleWorkspaceGroups = workspaceOf(entry, source.directory, problem);
    const redirectUrl = entry.redirectUrl ?? callbackUrl(values.SERVICE_PUBLIC_URL, entry.id);
    if (report.problems.length === before) {
      checkWorkspaceRules(entry, problem);
    }
    if (report.problems.length === before) {
      const isConfigured = isOAuthConfigured(values, redirectUrl);
      providers.push({
        ...settingsOf(entry, credentials),
        googleWorkspaceGroups,
        redirectUrl,
        isOAuthConfigured: isConfigured,
      });
    }
  });
  return providers;
}

/**
 * Parses one entry. One with a problem is returned as well, for the checks that follow, and must
 * not be used further; null when it is no object.
 */
export function readEntry<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  problem: ReportField,
): v.InferOutput<Schema> | null {
  const given = withoutNulls(value);
  const { output, issues = [] } = v.safeParse(schema, given, { abortPipeEarly: true });
  const found = new Map<string, readonly [field: string, message: string]>();
  for (const { path = [], expected, message } of issues) {
    const keys = path.map(({ key }) => key);
    const names = (expected === 'never' ? keys.slice(0, -1) : keys).filter(isName);
    const field = names.map((name) => `.${name}`).join('');
    message.split('\n').forEach((line) => found.set(`${field} ${line}`, [field, line]));
  }
  found.forEach(([field, message]) => problem(field, message));
  return isPlainObject(output) ? output : null;
}

/** An item of a list is reported as its list. */
function isName(key: unknown): key is string {
  return typeof key === 'string';
}

/** null counts as not given. */
function withoutNulls(value: unknown): unknown {
  if (!isPlainObject(value)) {
    return value;
  }
  const entries = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(entries.map(([name, field]) => [name, withoutNulls(field)]));
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The callback this server has for a provider; null when its own address is not known. */
export function callbackUrl(publicUrl: string | null, providerId: string): string | null {
  const base = publicUrl?.replace(/\/+$/, '');
  return base === undefined ? null : `${base}/v1/oauth/${providerId}/callback`;
}

/** Without the two addresses a provider is known, and OAuth is answered `oauth-not-configured`. */
export function isOAuthConfigured(
  values: ReturnAddressValues,
  redirectUrl: string | null,
): boolean {
  return redirectUrl !== null && returnAddressFor(returnAddressFacts(values), '') !== null;
}

function sourceOf(values: ProvidersFileValues, report: ConfigurationReport): Source | null {
  const path = values.AUTH_PROVIDERS_CONFIG_PATH;
  const text = values.AUTH_PROVIDERS_CONFIG_JSON;
  if (path !== null && text !== null) {
    report.problem(PATH, `and ${JSON_TEXT} are both set; keep one of them.`);
    return null;
  }
  if (path === null) {
    return text === null ? null : { variable: JSON_TEXT, text, directory: process.cwd() };
  }
  const file = readSmallFile(path);
  if ('failure' in file) {
    report.problem(PATH, `names a file that ${file.failure}.`);
    return null;
  }
  return { variable: PATH, text: file.text, directory: dirname(resolve(path)) };
}

function entriesOf({ variable, text }: Source, report: ConfigurationReport): unknown[] | null {
  const parsed = parseJson(text);
  if (parsed === undefined) {
    report.problem(variable, 'is not valid JSON.');
    return null;
  }
  if (!Array.isArray(parsed)) {
    report.problem(variable, 'must be a JSON array of providers.');
    return null;
  }
  return parsed as unknown[];
}

/** How the client authenticates; paths are absolute. */
type ClientCredentials = Pick<
  OidcProviderSettings,
  'clientSecret' | 'clientSecretFile' | 'clientKeyFile' | 'clientAssertionFile'
>;

const CREDENTIALS = ['clientSecret', ...CREDENTIAL_FILES] as const;

function credentialsOf(
  entry: ProviderEntry,
  directory: string,
  problem: ReportField,
): ClientCredentials {
  const given = CREDENTIALS.filter((name) => entry[name] !== undefined);
  const [name = 'clientSecret'] = given;
  const none = { clientSecret: null, clientSecretFile: null, clientKeyFile: null };
  const credentials = { ...none, clientAssertionFile: null };
  const value = entry[name];
  if (given.length > 1) {
    problem(`.${name}`, `and ${given.slice(1).join(', ')} are both set; keep one of them.`);
  } else if (value === undefined) {
    problem(
      '.clientSecret',
      'is missing; set it, clientSecretFile, clientKeyFile or clientAssertionFile.',
    );
  } else if (name === 'clientSecret') {
    return { ...credentials, clientSecret: value };
  } else if (typeof value === 'string') {
    const path = resolve(directory, value);
    const text = textOf(path, (failure) => problem(`.${name}`, `names a file that ${failure}.`));
    if (name === 'clientKeyFile' && text !== null) {
      checkKeys(text, problem);
    }
    const secret = name === 'clientSecretFile' ? { clientSecret: text ?? '' } : {};
    return { ...credentials, ...secret, [name]: path };
  }
  return credentials;
}

function textOf(path: string, report: (failure: string) => void): string | null {
  const file = readSmallFile(path);
  if ('failure' in file) {
    report(file.failure);
    return null;
  }
  if (file.text.trim() === '') {
    report('is empty');
  }
  return file.text.replace(/\r?\n$/, '');
}

function checkKeys(text: string, problem: ReportField): void {
  try {
    readClientKeys(text);
  } catch (error) {
    problem('.clientKeyFile', `names a file that ${(error as Error).message}.`);
  }
}

/** How Google Workspace is asked; the path is absolute. */
function workspaceOf(
  { googleWorkspaceGroups: given }: ProviderEntry,
  directory: string,
  problem: ReportField,
): OidcProviderSettings['googleWorkspaceGroups'] {
  if (typeof given?.serviceAccountKeyFile !== 'string') {
    return null;
  }
  const serviceAccountKeyFile = resolve(directory, given.serviceAccountKeyFile);
  const report = (failure: string): void =>
    problem('.googleWorkspaceGroups.serviceAccountKeyFile', `names a file that ${failure}.`);
  const text = textOf(serviceAccountKeyFile, report) ?? '';
  if (text.trim() !== '') {
    try {
      readServiceAccountKey(text);
    } catch (error) {
      report((error as Error).message);
    }
  }
  return { ...given, serviceAccountKeyFile, directoryUrl: given.directoryUrl ?? null };
}

/** @param entry has no problem by itself */
function checkWorkspaceRules(
  { googleWorkspaceGroups: workspace, allow, ...entry }: ProviderEntry,
  problem: ReportField,
): void {
  if (workspace === undefined) {
    return;
  }
  const lists = ['groupsAny', 'groupsAll'] as const;
  if (lists.every((name) => allow[name].length === 0)) {
    problem('.googleWorkspaceGroups', 'needs allow.groupsAny or allow.groupsAll.');
  }
  for (const name of lists) {
    if (allow[name].some((group) => !group.includes('@'))) {
      const message = 'must be the e-mail addresses of groups beside googleWorkspaceGroups.';
      problem(`.allow.${name}`, message);
    }
  }
  if (entry.storeRefreshToken === true) {
    const why = 're-checks ask the directory, and need no token of the person.';
    problem('.storeRefreshToken', `must not be true beside googleWorkspaceGroups: ${why}`);
  }
  if (entry.entra.graph) {
    problem('.entra.graph', 'and googleWorkspaceGroups are both set; keep one of them.');
  }
}

function settingsOf(
  given: ProviderEntry,
  credentials: ClientCredentials,
): Omit<OidcProviderSettings, 'redirectUrl' | 'isOAuthConfigured' | 'googleWorkspaceGroups'> {
  const entry = { ...given, ...credentials };
  const { displayName = entry.id, prompt = null, idTokenSigningAlg = null, entra, ui } = entry;
  return {
    ...entry,
    displayName,
    prompt,
    idTokenSigningAlg,
    storeRefreshToken:
      entry.storeRefreshToken ??
      (hasAllowRules(entry.allow) && entry.googleWorkspaceGroups === undefined),
    entra: { ...entra, graphUrl: entra.graphUrl ?? null },
    ui: { iconHint: ui.iconHint ?? null, buttonColor: ui.buttonColor ?? null },
  };
}
