import { hasAllowRules } from '../../../core/policy/eligibility/provider-rules.js';
import type { ConfigurationReport } from '../environment/configuration-error.js';
import { oneLine } from '../environment/small-file.js';
import { readClientKeys } from './client-keys.js';
import {
  readEntries,
  readEntry,
  fileReader,
  type EntriesValues,
  type LoginAddresses,
  type ReportField,
} from './entries-file.js';
import { CREDENTIAL_FILES, PROVIDER_ENTRY, type ProviderEntry } from './provider-entry.js';
import type { OidcProviderSettings } from './provider-settings.js';
import { readServiceAccountKey } from './service-account-key.js';
import { signalsOf } from './signals-settings.js';

const SOURCE = {
  path: 'AUTH_PROVIDERS_CONFIG_PATH',
  json: 'AUTH_PROVIDERS_CONFIG_JSON',
  content: 'providers',
} as const;

/** Problems contain the index and the field, never a value (contract, External providers). */
export function readOidcProviders(
  values: EntriesValues<typeof SOURCE>,
  addresses: LoginAddresses,
  report: ConfigurationReport,
): OidcProviderSettings[] {
  const source = readEntries(SOURCE, values, report);
  const providers: OidcProviderSettings[] = [];
  source.entries.forEach((value, index) => {
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
    const { signals, ...fields } = entry;
    const received = signalsOf({ id: entry.id, signals }, addresses, source.directory, problem);
    const redirectUrl = entry.redirectUrl ?? callbackUrl(addresses, entry.id);
    if (report.problems.length === before) {
      checkWorkspaceRules(entry, problem);
    }
    if (report.problems.length === before) {
      providers.push({
        ...settingsOf(fields, credentials),
        googleWorkspaceGroups,
        ...received,
        redirectUrl,
        // Without an address the provider is listed, and OAuth gets `oauth-not-configured`.
        isOAuthConfigured: redirectUrl !== null && addresses.hasReturnAddress,
      });
    }
  });
  return providers;
}

/** Returns null if the address of this server is unknown. */
export function callbackUrl({ publicUrl }: LoginAddresses, providerId: string): string | null {
  const base = publicUrl?.replace(/\/+$/, '');
  return base === undefined ? null : `${base}/v1/oauth/${providerId}/callback`;
}

/** Paths are absolute. */
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
  } else if (entry.tokenEndpointAuthMethod !== undefined && !name.startsWith('clientSecret')) {
    problem('.tokenEndpointAuthMethod', `has no effect with ${name}, which sends no secret.`);
  } else if (name === 'clientSecret') {
    return { ...credentials, clientSecret: value };
  } else if (typeof value === 'string') {
    const check: (text: string) => unknown = name === 'clientKeyFile' ? readClientKeys : oneLine;
    const file = fileReader(directory, problem)(`.${name}`, value, check);
    const secret = name === 'clientSecretFile' ? { clientSecret: file?.text ?? '' } : {};
    return { ...credentials, ...secret, [name]: file?.path ?? '' };
  }
  return credentials;
}

function workspaceOf(
  { googleWorkspaceGroups: given }: ProviderEntry,
  directory: string,
  problem: ReportField,
): OidcProviderSettings['googleWorkspaceGroups'] {
  if (typeof given?.serviceAccountKeyFile !== 'string') {
    return null;
  }
  const field = '.googleWorkspaceGroups.serviceAccountKeyFile';
  const read = fileReader(directory, problem);
  const { path = '' } = read(field, given.serviceAccountKeyFile, readServiceAccountKey) ?? {};
  return { ...given, serviceAccountKeyFile: path, directoryUrl: given.directoryUrl ?? null };
}

/** @param entry must have no problem of its own */
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
      const message = 'must be the e-mail addresses of groups if googleWorkspaceGroups is set.';
      problem(`.allow.${name}`, message);
    }
  }
  if (entry.storeRefreshToken === true) {
    const why = 're-checks ask the directory, and need no token of the person.';
    problem('.storeRefreshToken', `must not be true with googleWorkspaceGroups: ${why}`);
  }
  if (entry.entra.graph) {
    problem('.entra.graph', 'and googleWorkspaceGroups are both set; keep one of them.');
  }
}

function settingsOf(given: Omit<ProviderEntry, 'signals'>, credentials: ClientCredentials) {
  const entry = { ...given, ...credentials };
  const { displayName = entry.id, prompt = null, idTokenSigningAlg = null, entra, ui } = entry;
  const { clientSecretExpiresAt: end, tokenEndpointAuthMethod = null } = entry;
  return {
    ...entry,
    tokenEndpointAuthMethod,
    clientSecretExpiresAt: end === undefined ? null : Date.parse(end),
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
