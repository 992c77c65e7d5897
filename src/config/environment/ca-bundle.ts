import { X509Certificate } from 'node:crypto';
import type { ConfigurationReport } from '../configuration-error.js';
import { readSmallFile, type EnvironmentText } from '../environment-sources.js';
import type { Values } from './env.js';

const BUNDLE = 'SERVICE_CA_BUNDLE';
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * The authorities of SERVICE_CA_BUNDLE, with those of NODE_EXTRA_CA_CERTS, which older releases of
 * Node.js apply only where no list is given; null without a bundle.
 */
export function readCaBundle(
  environment: EnvironmentText,
  values: Values,
  report: ConfigurationReport,
): string | null {
  const path = values[BUNDLE];
  if (path === null) {
    return null;
  }
  const file = readSmallFile(path);
  if ('failure' in file) {
    report.problem(BUNDLE, `names the file ${path}, which ${file.failure}.`);
    return null;
  }
  const blocks = file.text.match(CERTIFICATE) ?? [];
  if (blocks.length === 0 || !blocks.every(isCertificate)) {
    report.problem(BUNDLE, `names the file ${path}, which must have certificates in PEM.`);
    return null;
  }
  const extra = environment['NODE_EXTRA_CA_CERTS'] ?? '';
  const added = extra === '' ? { text: '' } : readSmallFile(extra);
  // Node.js itself warns of a file that it cannot read.
  const more = 'text' in added ? (added.text.match(CERTIFICATE) ?? []).filter(isCertificate) : [];
  return [...blocks, ...more].join('\n');
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
