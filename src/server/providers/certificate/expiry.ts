import { readFile } from 'node:fs/promises';
import { readSecret } from '../../config/environment/small-file.js';
import type { OidcProviderSettings } from '../../config/providers-file/provider-settings.js';
import type { Settings, VariableName } from '../../config/settings.js';
import { decodeFile, type FileText } from '../../../common/file-text.js';
import { parseJson } from '../../../common/parse-json.js';
import type { Expiry } from '../../../core/policy/findings/expiry.js';
import { certificateLifetimes, listLifetime, type Lifetime } from '../../../core/x509/expiry.js';
import { REVOCATION_LIST_BLOCKS } from '../../../core/x509/pem.js';
import { parseRevocationList, type ListReading } from '../../../core/x509/revocation-list.js';

export type ExpirySettings = Pick<Settings, 'http' | 'mtls' | 'admin' | 'network' | 'providers'>;

/** A text with certificates or revocation lists that have an end. */
type WatchedFile = {
  readonly variable: VariableName;
  readonly kind: 'certificate' | 'authority' | 'revocation_list';
} & ({ readonly path: string } | { readonly text: string });

/** Returns the files of certificates and lists that the server uses. A new one is a line here. */
function watchedFiles({ http, mtls, admin, network }: ExpirySettings): WatchedFile[] {
  const isDirect = mtls.enabled && mtls.mode === 'direct';
  const hasAdmin = admin.port !== null;
  return [
    ...file('SERVICE_TLS_CERT_PATH', 'certificate', http.tls.certPath),
    ...file(
      'SERVICE_FEATURE_AUTH_MTLS__TLS_CERT_PATH',
      'certificate',
      isDirect && mtls.tlsCertPath,
    ),
    ...file('SERVICE_FEATURE_AUTH_MTLS__CA_PATH', 'authority', mtls.enabled && mtls.caPath),
    ...file('SERVICE_FEATURE_AUTH_MTLS__CRL_PATH', 'revocation_list', mtls.enabled && mtls.crlPath),
    ...file('ADMIN_TLS_CERT_PATH', 'certificate', hasAdmin && admin.tls.certPath),
    ...file('ADMIN_TLS_CLIENT_CA_PATH', 'authority', hasAdmin && admin.tls.clientCaPath),
    ...(network.caBundle === null
      ? []
      : [{ variable: 'SERVICE_CA_BUNDLE', kind: 'authority', text: network.caBundle } as const]),
  ];
}

function file(
  variable: VariableName,
  kind: WatchedFile['kind'],
  path: string | null | false,
): WatchedFile[] {
  return path === null || path === false ? [] : [{ variable, kind, path }];
}

/** Reads the ends of certificates, lists and client secrets. A file that cannot be read is left out. */
export async function readExpiries(
  settings: ExpirySettings,
  nextTurn: ListReading['nextTurn'],
): Promise<Expiry[]> {
  const reading = { maxAgeMs: settings.mtls.crlMaxAgeSeconds * 1000, nextTurn };
  const files = watchedFiles(settings).map((file) => expiriesIn(file, reading));
  const secrets = settings.providers.flatMap((provider) =>
    'issuer' in provider ? secretExpiry(provider) : [],
  );
  return [...(await Promise.all(files)).flat(), ...secrets];
}

async function expiriesIn(file: WatchedFile, reading: ListReading): Promise<Expiry[]> {
  const { variable, kind } = file;
  const read: FileText =
    'text' in file ? file : await readFile(file.path).then(decodeFile, () => ({ text: '' }));
  const text = 'text' in read ? read.text : '';
  const lifetimes =
    kind === 'revocation_list' ? await listLifetimes(text, reading) : certificateLifetimes(text);
  return lifetimes.map((lifetime) => ({ variable, kind, ...lifetime }));
}

async function listLifetimes(text: string, reading: ListReading): Promise<Lifetime[]> {
  const lists = (text.match(REVOCATION_LIST_BLOCKS) ?? []).map((list) =>
    parseRevocationList(list, reading).then(
      (parsed) => [listLifetime(parsed)],
      () => [],
    ),
  );
  return (await Promise.all(lists)).flat();
}

/** The end that the operator gives, or the one in a secret that is a JWT. */
function secretExpiry(provider: OidcProviderSettings): Expiry[] {
  const { id, clientSecret, clientSecretFile, clientSecretExpiresAt } = provider;
  const file = clientSecretFile === null ? { failure: '' } : readSecret(clientSecretFile);
  const secret = 'text' in file ? file.text : (clientSecret ?? '');
  const expiresAt = clientSecretExpiresAt ?? jwtExpiry(secret);
  return expiresAt === null
    ? []
    : [{ variable: 'clientSecret', kind: 'client_secret', name: id, startsAt: null, expiresAt }];
}

function jwtExpiry(secret: string): number | null {
  const [, claims = '', ...rest] = secret.split('.');
  const parsed = rest.length === 1 ? parseJson(Buffer.from(claims, 'base64url').toString()) : null;
  const isClaims = typeof parsed === 'object' && parsed !== null && 'exp' in parsed;
  return isClaims && typeof parsed.exp === 'number' ? parsed.exp * 1000 : null;
}
