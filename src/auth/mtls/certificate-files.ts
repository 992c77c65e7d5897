import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { ConfigurationError } from '../../config/configuration-error.js';
import { SETTINGS, type MtlsSettings, type Settings } from '../../config/settings.js';
import type { TrustStore } from './certificate-chain.js';
import { decodePem } from './decoders/pem.js';
import { parseCertificate } from './parse-certificate.js';
import { parseRevocationList } from './revocation-list.js';

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
export interface TlsFiles {
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly ca: string | undefined;
  /** One block each: Node reads only the first one of a text. */
  readonly crl: string[] | undefined;
}

/** What the files said at one moment. */
export interface LoadedFiles {
  readonly tls: TlsFiles;
  /** null when there is no CA bundle. */
  readonly trust: TrustStore | null;
}

/**
 * The certificate files, read again when their contents change: by reading them, as the files of a
 * Kubernetes volume are links that are swapped. A change that makes no sense (half written, key and
 * certificate of different age) is told once and leaves everything as it was.
 */
@Injectable()
export class CertificateFiles implements OnModuleInit {
  private readonly logger = new Logger('ClientCertificates');
  private readonly listeners: ((loaded: LoadedFiles) => void)[] = [];
  private readonly mtls: MtlsSettings;
  private loaded: LoadedFiles = { tls: NO_FILES, trust: null };
  private lastLooked = '';
  private lastComplaint = '';

  constructor(@Inject(SETTINGS) { mtls }: Settings) {
    this.mtls = mtls;
  }

  /** @throws ConfigurationError when a configured file cannot be read or makes no sense */
  async onModuleInit(): Promise<void> {
    if (this.mtls.enabled) {
      const tls = await this.read();
      this.lastLooked = JSON.stringify(tls);
      this.loaded = { tls, trust: understand(tls) };
    }
  }

  current(): LoadedFiles {
    return this.loaded;
  }

  /** Calls back after every change that makes sense. */
  onChange(listener: (loaded: LoadedFiles) => void): void {
    this.listeners.push(listener);
  }

  @Interval(LOOK_EVERY_MS)
  async look(): Promise<void> {
    if (!this.mtls.enabled) {
      return;
    }
    try {
      const tls = await this.read();
      const text = JSON.stringify(tls);
      if (text === this.lastLooked) {
        return;
      }
      this.lastLooked = text;
      this.loaded = { tls, trust: understand(tls) };
      this.lastComplaint = '';
      this.listeners.forEach((listener) => listener(this.loaded));
      this.logger.log('The certificate files have changed and are in use.');
    } catch (error) {
      this.complain(error);
    }
  }

  private complain(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (this.lastComplaint !== message) {
      this.lastComplaint = message;
      this.logger.error(`Changed certificate files are not used: ${message}`);
    }
  }

  private async read(): Promise<TlsFiles> {
    const [cert, key, ca, crl] = await Promise.all([
      this.readOne('tlsCertPath'),
      this.readOne('tlsKeyPath'),
      this.readOne('caPath'),
      this.readOne('crlPath'),
    ]);
    return { cert, key, ca, crl: crl === undefined ? undefined : blocksOf(crl) };
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

/** @throws ConfigurationError naming the file that makes no sense */
function understand(tls: TlsFiles): TrustStore | null {
  try {
    createSecureContext({ ...tls });
  } catch (error) {
    throw problem('tlsCertPath', error);
  }
  if (tls.ca === undefined) {
    return null;
  }
  const anchors = (decodePem(commentless(tls.ca)) ?? []).map(parseCertificate);
  const known = anchors.filter((anchor) => anchor !== null);
  if (known.length === 0 || known.length < anchors.length) {
    throw problem('caPath', new Error('It has to hold certificates in PEM, all of them readable.'));
  }
  try {
    const revocations = tls.crl === undefined ? null : tls.crl.map(parseRevocationList);
    return { anchors: known, revocations };
  } catch (error) {
    throw problem('crlPath', error);
  }
}

/** A file without a list stays one text, which is then refused. */
function blocksOf(crl: string): string[] {
  return crl.match(REVOCATION_LIST) ?? [crl];
}

/** Bundles often say beside each certificate whose it is. */
function commentless(pem: string): string {
  const blocks = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
  return (pem.match(blocks) ?? []).join('\n');
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
