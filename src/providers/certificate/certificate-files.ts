import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Interval } from '@nestjs/schedule';
import { PolledFiles } from '../../common/polled-files.js';
import { ConfigurationError } from '../../config/configuration-error.js';
import { mtlsConfig } from '../../config/mtls.config.js';
import type { TrustStore } from './certificate-chain.js';
import { decodePem } from './decode-certificates.js';
import { parseCertificate } from './parse-certificate.js';
import { parseRevocationList, type RevocationList } from './revocation-list.js';

const LOOK_EVERY_MS = 2000;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const REVOCATION_LIST = /-----BEGIN X509 CRL-----[^-]+-----END X509 CRL-----/g;

type FileName = 'tlsCertPath' | 'tlsKeyPath' | 'caPath' | 'crlPath';

const VARIABLES: Readonly<Record<FileName, string>> = {
  tlsCertPath: 'SERVICE_FEATURE_AUTH_MTLS__TLS_CERT_PATH',
  tlsKeyPath: 'SERVICE_FEATURE_AUTH_MTLS__TLS_KEY_PATH',
  caPath: 'SERVICE_FEATURE_AUTH_MTLS__CA_PATH',
  crlPath: 'SERVICE_FEATURE_AUTH_MTLS__CRL_PATH',
};

/** PEM texts; undefined where no file is configured. */
interface TlsFiles {
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly ca: string | undefined;
  /** One block each: Node reads only the first one of a text. */
  readonly crl: string[] | undefined;
}

/** The contents of the files at one moment. */
export interface LoadedFiles {
  readonly tls: TlsFiles;
  /** null when there is no CA bundle. */
  readonly trust: TrustStore | null;
  /** null when there is no file of revocation lists. */
  readonly revocations: readonly RevocationList[] | null;
}

/** The certificate files. Key and certificate of different age are an invalid change, too. */
@Injectable()
export class CertificateFiles implements OnModuleInit {
  private readonly logger = new Logger('ClientCertificates');
  private readonly listeners: ((loaded: LoadedFiles, before: LoadedFiles) => void)[] = [];
  private loaded: LoadedFiles = { tls: NO_FILES, trust: null, revocations: null };
  private readonly files = new PolledFiles(
    () => this.read(),
    loadedFrom,
    (reason) => this.logger.error(`Changed certificate files are not used: ${reason}`),
  );

  constructor(@Inject(mtlsConfig.KEY) private readonly mtls: ConfigType<typeof mtlsConfig>) {}

  /** @throws ConfigurationError when a configured file cannot be read or is invalid */
  async onModuleInit(): Promise<void> {
    if (this.mtls.enabled) {
      this.loaded = (await this.files.load()) ?? this.loaded;
    }
  }

  current(): LoadedFiles {
    return this.loaded;
  }

  /** Whether a file changed to something that cannot be used. */
  get hasUnusedChange(): boolean {
    return this.files.hasUnusedChange;
  }

  /** Calls back after every valid change. */
  onChange(listener: (loaded: LoadedFiles, before: LoadedFiles) => void): void {
    this.listeners.push(listener);
  }

  @Interval(LOOK_EVERY_MS)
  async look(): Promise<void> {
    const before = this.loaded;
    const loaded = this.mtls.enabled ? await this.files.look() : null;
    if (loaded !== null) {
      this.loaded = loaded;
      this.listeners.forEach((listener) => listener(loaded, before));
      this.logger.log('The certificate files have changed and are in use.');
    }
  }

  private async read(): Promise<TlsFiles> {
    const [cert, key, ca, crl] = await Promise.all([
      this.readOne('tlsCertPath'),
      this.readOne('tlsKeyPath'),
      this.readOne('caPath'),
      this.readOne('crlPath'),
    ]);
    // A file without a list is kept as it is, and then refused.
    const lists = crl === undefined ? undefined : (crl.match(REVOCATION_LIST) ?? [crl]);
    return { cert, key, ca, crl: lists };
  }

  private async readOne(name: FileName): Promise<string | undefined> {
    const path = this.mtls[name];
    // Forwarded certificates need no key of this server.
    if (path === null || (this.mtls.mode === 'forwarded' && name.startsWith('tls'))) {
      return undefined;
    }
    try {
      return await readFile(path, 'utf8');
    } catch (error) {
      throw problem(name, error);
    }
  }
}

const NO_FILES: TlsFiles = { cert: undefined, key: undefined, ca: undefined, crl: undefined };

/** @throws ConfigurationError naming the invalid file */
function loadedFrom(tls: TlsFiles): LoadedFiles {
  const revocations = revocationsOf(tls);
  return { tls, trust: trustStoreOf(tls, revocations), revocations };
}

/** @throws ConfigurationError naming the invalid file */
function trustStoreOf(
  tls: TlsFiles,
  revocations: readonly RevocationList[] | null,
): TrustStore | null {
  try {
    createSecureContext({ ...tls });
  } catch (error) {
    throw problem('tlsCertPath', error);
  }
  if (tls.ca === undefined) {
    return null;
  }
  // Bundles often have a comment beside each certificate.
  const blocks = tls.ca.match(CERTIFICATE) ?? [];
  const anchors = (decodePem(blocks.join('\n')) ?? []).map(parseCertificate);
  const known = anchors.filter((anchor) => anchor !== null);
  if (known.length === 0 || known.length < anchors.length) {
    throw problem('caPath', new Error('It has to hold certificates in PEM, all of them readable.'));
  }
  return { anchors: known, revocations };
}

/** @throws ConfigurationError naming the invalid file */
function revocationsOf({ crl }: TlsFiles): readonly RevocationList[] | null {
  try {
    return crl?.map(parseRevocationList) ?? null;
  } catch (error) {
    throw problem('crlPath', error);
  }
}

function problem(name: FileName, error: unknown): ConfigurationError {
  if (error instanceof ConfigurationError) {
    return error;
  }
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
  const message = error instanceof Error && code === '' ? `: ${error.message}` : code;
  return new ConfigurationError([
    { variable: VARIABLES[name], message: `the file cannot be used${message}.` },
  ]);
}
