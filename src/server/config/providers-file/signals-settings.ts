import { readBearerTokens, readSecretLines } from './bearer-tokens.js';
import { fileReader, type LoginAddresses, type ReportField } from './entries-file.js';
import type { ProviderEntry } from './provider-entry.js';
import type { OidcProviderSettings, StreamManagementSettings } from './provider-settings.js';

type SignalSettings = Pick<
  OidcProviderSettings,
  'scim' | 'globalTokenRevocation' | 'sharedSignals'
>;

type GivenSharedSignals = NonNullable<ProviderEntry['signals']['sharedSignals']>;

const SHARED = '.signals.sharedSignals';

/** Resolves the field `signals` of an entry. */
export function signalsOf(
  { id, signals }: Pick<ProviderEntry, 'id' | 'signals'>,
  addresses: LoginAddresses,
  directory: string,
  problem: ReportField,
): SignalSettings {
  return {
    scim: scimOf(signals, directory, problem),
    globalTokenRevocation: revocationOf(id, signals, addresses, problem),
    sharedSignals: sharedSignalsOf(id, signals, addresses, directory, problem),
  };
}

function scimOf(
  { scim: given }: ProviderEntry['signals'],
  directory: string,
  problem: ReportField,
): OidcProviderSettings['scim'] {
  if (given === undefined) {
    return null;
  }
  const { token, tokenFile, ...rules } = given;
  const names = { token: 'token', tokenFile: 'tokenFile' };
  const tokens = bearerTokensOf('.signals.scim', names, { token, tokenFile }, directory, problem);
  return tokens && { ...rules, ...tokens };
}

/** Reads tokens that are given either themselves or in a file. @param names of the fields */
function bearerTokensOf(
  section: string,
  names: Readonly<Record<'token' | 'tokenFile', string>>,
  { token, tokenFile }: Readonly<Record<'token' | 'tokenFile', string | undefined>>,
  directory: string,
  problem: ReportField,
): { readonly tokenText: string; readonly tokenFile: string | null } | null {
  if ((token === undefined) === (tokenFile === undefined)) {
    problem(section, `needs either ${names.token} or ${names.tokenFile}.`);
    return null;
  }
  const source = { field: `${section}.${names.token}`, text: token, path: tokenFile };
  const { text, path } = secretOf(source, readBearerTokens, directory, problem);
  return { tokenFile: path, tokenText: text };
}

interface SecretSource {
  /** The field of the secret itself. That of its file ends in `File`. */
  readonly field: string;
  readonly text: string | undefined;
  readonly path: string | undefined;
}

/** Reads a secret that is given either itself or in a file. @returns '' after a report */
function secretOf(
  { field, text, path }: SecretSource,
  check: (text: string) => unknown,
  directory: string,
  problem: ReportField,
): { readonly text: string; readonly path: string | null } {
  if (path !== undefined) {
    const file = fileReader(directory, problem)(`${field}File`, path, check);
    return { text: file?.text ?? '', path: file?.path ?? null };
  }
  try {
    check(text ?? '');
  } catch (error) {
    problem(field, `${(error as Error).message}.`);
  }
  return { text: text ?? '', path: null };
}

function sharedSignalsOf(
  id: string,
  { sharedSignals: given }: ProviderEntry['signals'],
  { publicUrl }: LoginAddresses,
  directory: string,
  problem: ReportField,
): SignalSettings['sharedSignals'] {
  if (given === undefined) {
    return null;
  }
  const { transmitter, riskEvents, delivery, pushToken, pushTokenFile } = given;
  const base = publicUrl?.replace(/\/+$/, '') ?? null;
  const audience = given.audience ?? base;
  if (audience === null) {
    problem(SHARED, 'needs audience or SERVICE_PUBLIC_URL.');
    return null;
  }
  const management = managementOf(given, directory, problem);
  if (delivery === 'poll' && management === null) {
    problem(SHARED, 'needs managementTokenFile or managementClient to poll.');
  }
  const names = { token: 'pushToken', tokenFile: 'pushTokenFile' };
  const tokens = { token: pushToken, tokenFile: pushTokenFile };
  const isPushAuthenticated = pushToken !== undefined || pushTokenFile !== undefined;
  const push = isPushAuthenticated
    ? bearerTokensOf(SHARED, names, tokens, directory, problem)
    : null;
  const endpoint = base === null ? null : `${base}/v1/signals/${id}`;
  return { transmitter, riskEvents, audience, delivery, push, endpoint, management };
}

function managementOf(
  { managementToken, managementTokenFile, managementClient }: GivenSharedSignals,
  directory: string,
  problem: ReportField,
): StreamManagementSettings | null {
  const hasToken = managementToken !== undefined || managementTokenFile !== undefined;
  if (managementClient === undefined) {
    const names = { token: 'managementToken', tokenFile: 'managementTokenFile' };
    const given = { token: managementToken, tokenFile: managementTokenFile };
    const tokens = hasToken ? bearerTokensOf(SHARED, names, given, directory, problem) : null;
    return tokens && { kind: 'token', ...tokens };
  }
  if (hasToken) {
    problem(`${SHARED}.managementClient`, 'and a management token are both set; keep one of them.');
  }
  const { clientSecret, clientSecretFile, ...client } = managementClient;
  if ((clientSecret === undefined) === (clientSecretFile === undefined)) {
    problem(`${SHARED}.managementClient`, 'needs either clientSecret or clientSecretFile.');
    return null;
  }
  const field = `${SHARED}.managementClient.clientSecret`;
  const source = { field, text: clientSecret, path: clientSecretFile };
  const { text, path } = secretOf(source, readSecretLines, directory, problem);
  return { kind: 'client', ...client, clientSecret: text, clientSecretFile: path };
}

function revocationOf(
  id: string,
  { globalTokenRevocation: given }: ProviderEntry['signals'],
  { publicUrl }: LoginAddresses,
  problem: ReportField,
): OidcProviderSettings['globalTokenRevocation'] {
  if (given === undefined) {
    return null;
  }
  const base = publicUrl?.replace(/\/+$/, '');
  if (base === undefined) {
    const missing = 'needs SERVICE_PUBLIC_URL, the address that its tokens have to name.';
    problem('.signals.globalTokenRevocation', missing);
    return null;
  }
  return { ...given, endpoint: `${base}/v1/signals/${id}/global-token-revocation` };
}
