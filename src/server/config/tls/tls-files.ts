import { constants, createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { decodeFile, type FileText } from '../../../common/file-text.js';
import { PolledFiles } from '../../../common/polled-files.js';
import { CERTIFICATE_BLOCKS } from '../../../core/x509/pem.js';
import { allChecked, ConfigurationError } from '../environment/configuration-error.js';

/** Every port that serves HTTPS accepts this version and newer ones. */
export const TLS_MIN_VERSION = 'TLSv1.2';

interface TlsFile {
  readonly variable: string;
  readonly path: string;
}

export interface TlsFileSet {
  readonly cert: TlsFile;
  readonly key: TlsFile;
  /** Authorities of client certificates. Absent = clients are asked for none. */
  readonly ca?: TlsFile;
}

interface TlsPaths {
  readonly certPath: string | null;
  readonly keyPath: string | null;
  readonly clientCaPath?: string | null;
}

/** @param variables the beginning of their names @returns null for plain HTTP */
export function tlsFileSet(
  variables: 'SERVICE_TLS' | 'ADMIN_TLS',
  { certPath, keyPath, clientCaPath = null }: TlsPaths,
): TlsFileSet | null {
  if (certPath === null || keyPath === null) {
    return null;
  }
  return {
    cert: { variable: `${variables}_CERT_PATH`, path: certPath },
    key: { variable: `${variables}_KEY_PATH`, path: keyPath },
    ...(clientCaPath !== null && {
      ca: { variable: `${variables}_CLIENT_CA_PATH`, path: clientCaPath },
    }),
  };
}

type Contents = { readonly [Name in keyof TlsFileSet]: string };

/** @returns null for plain HTTP @throws ConfigurationError for an unusable file or pair */
export async function loadTlsContext(set: TlsFileSet | null): Promise<SecureContextOptions | null> {
  return set && contextOf(set, await readAll(set));
}

/** @param logUnused receives the reason for an unusable change */
export function pollTlsFiles(
  set: TlsFileSet,
  logUnused: (reason: string) => void,
): PolledFiles<Contents, SecureContextOptions> {
  return new PolledFiles(
    () => readAll(set),
    (contents) => contextOf(set, contents),
    logUnused,
  );
}

async function readAll({ cert, key, ca }: TlsFileSet): Promise<Contents> {
  const [certText, keyText, caText] = await allChecked([
    readTlsFile(cert),
    readTlsFile(key),
    ca && readTlsFile(ca),
  ]);
  return { cert: certText, key: keyText, ...(caText !== undefined && { ca: caText }) };
}

function contextOf(set: TlsFileSet, contents: Contents): SecureContextOptions {
  use(set.cert, () => new X509Certificate(contents.cert));
  use(set.key, () => createPrivateKey(contents.key));
  if (set.ca !== undefined) {
    // Node accepts a text without certificates as an empty bundle.
    const text = contents.ca ?? '';
    const blocks = text.match(CERTIFICATE_BLOCKS) ?? [text];
    use(set.ca, () => blocks.map((block) => new X509Certificate(block)));
  }
  const options: SecureContextOptions = {
    ...contents,
    minVersion: TLS_MIN_VERSION,
    // A resumed session would keep a client that changed authorities no longer accept.
    ...(set.ca !== undefined && { secureOptions: constants.SSL_OP_NO_TICKET }),
  };
  // The key belongs to another certificate, or the chain is damaged.
  use(set.key, () => createSecureContext(options));
  return options;
}

export async function readTlsFile({ variable, path }: TlsFile): Promise<string> {
  let file: FileText;
  try {
    file = decodeFile(await readFile(path));
  } catch (error) {
    throw unusableFile(variable, error);
  }
  if ('failure' in file) {
    throw new ConfigurationError([{ variable, message: `names a file that ${file.failure}.` }]);
  }
  return file.text;
}

function use({ variable }: TlsFile, parse: () => unknown): void {
  try {
    parse();
  } catch (error) {
    throw unusableFile(variable, error);
  }
}

/** A system error gives only its code: its message has the path. */
export function unusableFile(variable: string, error: unknown): ConfigurationError {
  const { message, code } = error as NodeJS.ErrnoException;
  const isSystemError = error instanceof Error && 'syscall' in error;
  const reason = isSystemError ? code : message.replace(/\.$/, '');
  return new ConfigurationError([
    { variable, message: `names a file that cannot be used: ${reason}.` },
  ]);
}
