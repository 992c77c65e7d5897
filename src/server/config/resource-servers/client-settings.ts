import { X509Certificate } from 'node:crypto';
import * as v from 'valibot';
import { parseJson } from '../../../common/parse-json.js';
import { fileReader, type FileReader, type ReportField } from '../providers-file/entries-file.js';
import { CLIENT_METHODS, KEY_SOURCES, type ResourceServerEntry } from './resource-server-entry.js';

const SHORTEST_SECRET = 16;
const MOST_SECRETS = 2;
const MOST_KEYS = 100;
const LEAST_RSA_BYTES = 256;

/** A JWK set without private and symmetric keys. */
export interface PublicKeySet {
  readonly keys: readonly Readonly<Record<string, unknown>>[];
}

/** The public keys that verify the assertions of a client. Paths are absolute. */
export type KeySource =
  | { readonly jwksFile: string; readonly keySet: PublicKeySet }
  | {
      readonly jwksUri: string;
      /** null = the authorities of the server. */
      readonly caFile: string | null;
      readonly ca: string | null;
      readonly bearerFile: string | null;
      readonly bearer: string | null;
    };

/** Authentication of a backend: a secret, or the issuer and the subject of its assertions. */
export type ClientSettings =
  | {
      readonly method: 'secret';
      readonly secretFile: string;
      /** One secret, or two during a rotation. */
      readonly secrets: readonly string[];
    }
  | { readonly method: 'private-key'; readonly keys: KeySource }
  | {
      readonly method: 'kubernetes';
      readonly issuer: string;
      readonly subject: string;
      readonly keys: KeySource;
    };

type ClientEntry = ResourceServerEntry['client'];
type KeysEntry = Pick<NonNullable<ClientEntry['kubernetes']>, 'jwksFile' | 'jwksUri'> &
  Partial<Pick<NonNullable<ClientEntry['kubernetes']>, 'caFile' | 'bearerFile'>>;

/** Reads the files that the entry names. @returns null after a problem was reported */
export function readClient(
  client: ClientEntry,
  directory: string,
  problem: ReportField,
): ClientSettings | null {
  if (CLIENT_METHODS.filter((name) => client[name] !== undefined).length !== 1) {
    problem('.client', `must have exactly one of ${CLIENT_METHODS.join(', ')}.`);
    return null;
  }
  const read = fileReader(directory, problem);
  const { secretFile, kubernetes } = client;
  if (secretFile !== undefined) {
    const secrets = read('.client.secretFile', secretFile, parseClientSecrets);
    return secrets && { method: 'secret', secretFile: secrets.path, secrets: secrets.value };
  }
  if (kubernetes === undefined) {
    const keys = readKeySource(client, '.client', read);
    return keys && { method: 'private-key', keys };
  }
  const { issuer, subject } = kubernetes;
  if (KEY_SOURCES.filter((name) => kubernetes[name] !== undefined).length !== 1) {
    problem('.client.kubernetes', `must have exactly one of ${KEY_SOURCES.join(', ')}.`);
    return null;
  }
  const unused = (['caFile', 'bearerFile'] as const).filter(
    (name) => kubernetes.jwksUri === undefined && kubernetes[name] !== undefined,
  );
  unused.forEach((name) => problem(`.client.kubernetes.${name}`, 'has no effect without jwksUri.'));
  const keys = readKeySource(kubernetes, '.client.kubernetes', read);
  return keys && unused.length === 0 ? { method: 'kubernetes', issuer, subject, keys } : null;
}

function readKeySource(entry: KeysEntry, field: string, read: FileReader): KeySource | null {
  const { jwksFile, jwksUri = '', caFile, bearerFile } = entry;
  if (jwksFile !== undefined) {
    const set = read(`${field}.jwksFile`, jwksFile, parseKeySet);
    return set && { jwksFile: set.path, keySet: set.value };
  }
  const none = { path: null, value: null };
  const ca = caFile === undefined ? none : read(`${field}.caFile`, caFile, parseAuthorities);
  const bearer =
    bearerFile === undefined ? none : read(`${field}.bearerFile`, bearerFile, parseBearer);
  return ca === null || bearer === null
    ? null
    : {
        jwksUri,
        caFile: ca.path,
        ca: ca.value,
        bearerFile: bearer.path,
        bearer: bearer.value,
      };
}

/** @throws Error whose message completes "names a file that" */
export function parseClientSecrets(text: string): string[] {
  const secrets = text.split(/\r?\n/).filter((line) => line !== '');
  if (secrets.length === 0) {
    throw new Error('is empty');
  }
  if (secrets.length > MOST_SECRETS) {
    throw new Error(`has more than ${MOST_SECRETS} lines`);
  }
  if (secrets.some((secret) => Buffer.byteLength(secret) < SHORTEST_SECRET)) {
    throw new Error(`has a secret of less than ${SHORTEST_SECRET} bytes`);
  }
  return secrets;
}

const KEY_SET = v.object({
  keys: v.pipe(v.array(v.record(v.string(), v.unknown())), v.minLength(1), v.maxLength(MOST_KEYS)),
});

/** @throws Error whose message completes "names a file that", and quotes nothing of the file */
export function parseKeySet(text: string): PublicKeySet {
  const parsed = v.safeParse(KEY_SET, parseJson(text));
  if (!parsed.success) {
    throw new Error('is not a JWK set of 1 to 100 keys (RFC 7517)');
  }
  const { keys } = parsed.output;
  if (keys.some((key) => 'd' in key || 'k' in key)) {
    throw new Error('has a private or symmetric key: the backend alone may know it');
  }
  const isWeak = ({ kty, n }: Readonly<Record<string, unknown>>): boolean =>
    kty === 'RSA' && Buffer.from(String(n), 'base64url').length < LEAST_RSA_BYTES;
  if (keys.some(isWeak)) {
    throw new Error('has an RSA key of less than 2048 bits');
  }
  return { keys };
}

/** @throws Error whose message completes "names a file that" */
export function parseAuthorities(text: string): string {
  try {
    new X509Certificate(text);
    return text;
  } catch {
    throw new Error('has no certificate in PEM');
  }
}

/** @throws Error whose message completes "names a file that" */
export function parseBearer(text: string): string {
  const token = text.trim();
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new Error('is not a token');
  }
  return token;
}
