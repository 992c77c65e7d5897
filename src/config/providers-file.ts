import { dirname, resolve } from 'node:path';
import { userEntryFailure } from '../policy/user-entry.js';
import type { ConfigurationReport } from './configuration-error.js';
import type { Values } from './env.js';
import type { ProviderEntry } from './provider-definition.js';
import { readProviderEntry, type TellEntryProblem } from './provider-entry.js';
import { readSmallFile } from './read-file.js';
import type { OidcProviderSettings } from './settings.js';

/** Ids that mean something else in the lists of providers. */
export const RESERVED_PROVIDER_IDS: readonly string[] = ['key_challenge', 'mtls', 'anonymous'];

const PATH = 'AUTH_PROVIDERS_CONFIG_PATH';
const JSON_TEXT = 'AUTH_PROVIDERS_CONFIG_JSON';

interface Source {
  readonly variable: string;
  readonly text: string;
  /** Where relative paths in it start. */
  readonly directory: string;
}

/**
 * The OpenID Connect providers of the file or text that the operator named (contract, External
 * providers). Problems name the index and the field, never a value.
 */
export function readOidcProviders(
  values: Values,
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
    const tell: TellEntryProblem = (place, message) =>
      report.problem(source.variable, `${place} ${message}`);
    const entry = readProviderEntry(value, `[${index}]`, tell);
    if (entry === null) {
      return;
    }
    const taken = providers.map(({ id }) => id);
    checkEntry(entry, `[${index}]`, taken, tell);
    const secret = clientSecretOf(entry, source.directory, `[${index}]`, tell);
    const redirectUrl = entry.redirectUrl ?? callbackUrl(values.SERVICE_PUBLIC_URL, entry.id);
    if (redirectUrl === null && !report.has('SERVICE_PUBLIC_URL')) {
      tell(`[${index}].redirectUrl`, 'is missing; set it or SERVICE_PUBLIC_URL.');
    }
    if (report.problems.length === before) {
      providers.push(settingsOf(entry, secret, redirectUrl));
    }
  });
  return providers;
}

/** The callback this server has for a provider; null when its own address is not known. */
export function callbackUrl(publicUrl: string | null, providerId: string): string | null {
  const base = publicUrl?.replace(/\/+$/, '');
  return base === undefined ? null : `${base}/v1/oauth/${providerId}/callback`;
}

function sourceOf(values: Values, report: ConfigurationReport): Source | null {
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
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, and the text holds client secrets.
    report.problem(variable, 'is not valid JSON.');
    return null;
  }
  if (!Array.isArray(parsed)) {
    report.problem(variable, 'must be a JSON array of providers.');
    return null;
  }
  return parsed as unknown[];
}

function checkEntry(
  entry: ProviderEntry,
  place: string,
  taken: readonly string[],
  tell: TellEntryProblem,
): void {
  if (entry.id === 'github') {
    tell(`${place}.id`, 'must not be github, which the GITHUB_* variables configure.');
  } else if (RESERVED_PROVIDER_IDS.includes(entry.id)) {
    tell(`${place}.id`, `must not be one of ${RESERVED_PROVIDER_IDS.join(', ')}.`);
  } else if (taken.includes(entry.id)) {
    tell(`${place}.id`, 'is the id of another entry.');
  }
  if (!entry.scopes.includes('openid')) {
    tell(`${place}.scopes`, 'must have openid.');
  }
  if (entry.allow.emailDomains.some((domain) => domain.includes('@'))) {
    tell(`${place}.allow.emailDomains`, 'must be domains without @.');
  }
  const failures = new Set(entry.allow.usersAllowlist.map(userEntryFailure));
  for (const failure of failures) {
    if (failure !== null) {
      tell(`${place}.allow.usersAllowlist`, failure);
    }
  }
}

function clientSecretOf(
  { clientSecret, clientSecretFile }: ProviderEntry,
  directory: string,
  place: string,
  tell: TellEntryProblem,
): string {
  if (clientSecret !== null && clientSecretFile !== null) {
    tell(`${place}.clientSecret`, 'and clientSecretFile are both set; keep one of them.');
    return '';
  }
  if (clientSecretFile === null) {
    if (clientSecret === null) {
      tell(`${place}.clientSecret`, 'is missing; set it or clientSecretFile.');
    }
    return clientSecret ?? '';
  }
  const file = readSmallFile(resolve(directory, clientSecretFile));
  if ('failure' in file) {
    tell(`${place}.clientSecretFile`, `names a file that ${file.failure}.`);
    return '';
  }
  if (file.text.trim() === '') {
    tell(`${place}.clientSecretFile`, 'names a file that is empty.');
  }
  return file.text.replace(/\r?\n$/, '');
}

function settingsOf(
  entry: ProviderEntry,
  clientSecret: string,
  redirectUrl: string | null,
): OidcProviderSettings {
  return {
    type: 'oidc',
    id: entry.id,
    displayName: entry.displayName ?? entry.id,
    issuer: entry.issuer,
    formerIssuers: entry.formerIssuers,
    clientId: entry.clientId,
    clientSecret,
    redirectUrl,
    scopes: entry.scopes,
    prompt: entry.prompt,
    httpTimeoutSeconds: entry.httpTimeoutSeconds,
    claims: entry.claims,
    allow: entry.allow,
    fetchUserInfo: entry.fetchUserInfo,
    storeRefreshToken: entry.storeRefreshToken,
    emailVerification: entry.emailVerification,
    entra: entry.entra,
    ui: entry.ui,
  };
}
