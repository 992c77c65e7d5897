import { createSecureContext } from 'node:tls';
import { PolledFiles } from '../../../common/polled-files.js';
import { allChecked } from '../../config/environment/configuration-error.js';
import type { Settings } from '../../config/settings.js';
import { readTlsFile, unusableFile } from '../../config/tls/tls-files.js';
import type { TrustStore } from '../../../core/x509/certificate-chain.js';
import { readCertificates, type ParsedCertificate } from '../../../core/x509/parse-certificate.js';
import { REVOCATION_LIST_BLOCKS } from '../../../core/x509/pem.js';
import {
  parseRevocationList,
  type ListReading,
  type RevocationList,
} from '../../../core/x509/revocation-list.js';
import { requireUsableChains } from './peer-chain.js';

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

type Mtls = Settings['mtls'];

/** @returns null where certificates are not used @param logUnused receives the reason for an unusable change */
export function certificateFiles(
  mtls: Mtls,
  nextTurn: ListReading['nextTurn'],
  logUnused: (reason: string) => void,
): PolledFiles<TlsFiles, LoadedFiles> | null {
  const reading = { maxAgeMs: mtls.crlMaxAgeSeconds * 1000, nextTurn };
  return mtls.enabled
    ? new PolledFiles(
        () => readAll(mtls),
        async (tls) => {
          const loaded = await loadedFrom(tls, reading);
          if (mtls.mode === 'direct') {
            await requireUsableChains(loaded.trust);
          }
          return loaded;
        },
        logUnused,
      )
    : null;
}

async function readAll(mtls: Mtls): Promise<TlsFiles> {
  const [cert, key, ca, crl] = await allChecked([
    readOne(mtls, 'tlsCertPath'),
    readOne(mtls, 'tlsKeyPath'),
    readOne(mtls, 'caPath'),
    readOne(mtls, 'crlPath'),
  ]);
  // A file without a list is kept as it is, and then refused.
  const lists = crl === undefined ? undefined : (crl.match(REVOCATION_LIST_BLOCKS) ?? [crl]);
  return { cert, key, ca, crl: lists };
}

async function readOne(mtls: Mtls, name: FileName): Promise<string | undefined> {
  const path = mtls[name];
  // Forwarded certificates need no key of this server.
  if (path === null || (mtls.mode === 'forwarded' && name.startsWith('tls'))) {
    return undefined;
  }
  return readTlsFile({ variable: VARIABLES[name], path });
}

async function loadedFrom(tls: TlsFiles, reading: ListReading): Promise<LoadedFiles> {
  const [revocations, anchors] = await allChecked([revocationsOf(tls, reading), anchorsOf(tls)]);
  requirePair(tls);
  const trust = anchors && { anchors, revocations };
  return { tls, trust, pathTrust: trust && { ...trust, revocations: null }, revocations };
}

/** Certificate and key have to belong together. */
function requirePair(tls: TlsFiles): void {
  try {
    createSecureContext({ ...tls });
  } catch (error) {
    throw unusableFile(VARIABLES.tlsCertPath, error);
  }
}

async function anchorsOf({ ca }: TlsFiles): Promise<readonly ParsedCertificate[] | null> {
  if (ca === undefined) {
    return null;
  }
  const anchors = readCertificates(ca);
  if (anchors === null) {
    const error = new Error('it must have certificates in PEM, all of them readable');
    throw unusableFile(VARIABLES.caPath, error);
  }
  return Promise.resolve(anchors);
}

async function revocationsOf(
  { crl }: TlsFiles,
  reading: ListReading,
): Promise<readonly RevocationList[] | null> {
  try {
    return crl === undefined
      ? null
      : await Promise.all(crl.map((list) => parseRevocationList(list, reading)));
  } catch {
    // The reader's own errors are about places in bytes.
    const error = new Error('it must have revocation lists in PEM, all of them readable');
    throw unusableFile(VARIABLES.crlPath, error);
  }
}
