import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Interval } from '@nestjs/schedule';
import { decodeFile } from '../../../common/file-text.js';
import { Timers } from '../../../common/runtime/timers.js';
import { PolledFiles } from '../../../common/polled-files.js';
import { ConfigurationError } from '../../config/environment/configuration-error.js';
import { mtlsConfig } from '../../config/mtls.config.js';
import type { TrustStore } from '../../../core/x509/certificate-chain.js';
import { readCertificates, type ParsedCertificate } from '../../../core/x509/parse-certificate.js';
import {
  parseRevocationList,
  type ListReading,
  type RevocationList,
} from '../../../core/x509/revocation-list.js';

const LOOK_EVERY_MS = 2000;
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

export interface LoadedFiles {
  readonly tls: TlsFiles;
  /** null when there is no CA bundle. */
  readonly trust: TrustStore | null;
  /** {@link trust} without its lists, for paths alone. */
  readonly pathTrust: TrustStore | null;
  /** null when there is no file of revocation lists. */
  readonly revocations: readonly RevocationList[] | null;
}

/** The certificate files. Key and certificate of different age are an invalid change, too. */
@Injectable()
export class CertificateFilesService implements OnModuleInit {
  private readonly logger = new Logger('ClientCertificates');
  private readonly listeners: ((loaded: LoadedFiles, before: LoadedFiles) => void)[] = [];
  private loaded: LoadedFiles = NOT_LOADED;
  private looking: Promise<void> | null = null;
  private readonly files = new PolledFiles(
    () => this.read(),
    (tls) =>
      loadedFrom(tls, {
        maxAgeMs: this.mtls.crlMaxAgeSeconds * 1000,
        nextTurn: () => this.timers.nextTurn(),
      }),
    (reason) => this.logger.error(`Changed certificate files are not used: ${reason}`),
  );

  constructor(
    @Inject(mtlsConfig.KEY) private readonly mtls: ConfigType<typeof mtlsConfig>,
    private readonly timers: Timers,
  ) {}

  async onModuleInit(): Promise<void> {
    if (this.mtls.enabled) {
      this.loaded = (await this.files.load()) ?? this.loaded;
    }
  }

  current(): LoadedFiles {
    return this.loaded;
  }

  /** True if a file changed to something that cannot be used. */
  get hasUnusedChange(): boolean {
    return this.files.hasUnusedChange;
  }

  onChange(listener: (loaded: LoadedFiles, before: LoadedFiles) => void): void {
    this.listeners.push(listener);
  }

  /** Once at a time: a long revocation list is read in slices. */
  @Interval(LOOK_EVERY_MS)
  async poll(): Promise<void> {
    this.looking ??= this.readChange().finally(() => {
      this.looking = null;
    });
    await this.looking;
  }

  private async readChange(): Promise<void> {
    const before = this.loaded;
    const loaded = this.mtls.enabled ? await this.files.poll() : null;
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
      const file = decodeFile(await readFile(path));
      if ('text' in file) {
        return file.text;
      }
      throw new Error(`it ${file.failure}`);
    } catch (error) {
      throw problem(name, error);
    }
  }
}

const NOT_LOADED: LoadedFiles = {
  tls: { cert: undefined, key: undefined, ca: undefined, crl: undefined },
  trust: null,
  pathTrust: null,
  revocations: null,
};

async function loadedFrom(tls: TlsFiles, reading: ListReading): Promise<LoadedFiles> {
  const revocations = await revocationsOf(tls, reading);
  const anchors = anchorsOf(tls);
  const trust = anchors && { anchors, revocations };
  return { tls, trust, pathTrust: trust && { ...trust, revocations: null }, revocations };
}

function anchorsOf(tls: TlsFiles): readonly ParsedCertificate[] | null {
  try {
    createSecureContext({ ...tls });
  } catch (error) {
    throw problem('tlsCertPath', error);
  }
  if (tls.ca === undefined) {
    return null;
  }
  const anchors = readCertificates(tls.ca);
  if (anchors === null) {
    throw problem('caPath', new Error('It has to hold certificates in PEM, all of them readable.'));
  }
  return anchors;
}

async function revocationsOf(
  { crl }: TlsFiles,
  reading: ListReading,
): Promise<readonly RevocationList[] | null> {
  try {
    return crl === undefined
      ? null
      : await Promise.all(crl.map((list) => parseRevocationList(list, reading)));
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
