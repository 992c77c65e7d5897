import { X509Certificate } from 'node:crypto';
import type { ConfigurationReport } from './configuration-error.js';
import { readSmallFile } from './small-file.js';
import type { EnvironmentText } from './variable.js';

const BUNDLE = 'SERVICE_CA_BUNDLE';
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Adds those of NODE_EXTRA_CA_CERTS, which older releases of Node.js ignore if a list is given. */
export function readCaBundle(
  path: string | null,
  environment: EnvironmentText,
  report: ConfigurationReport,
): string | null {
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
  // Node.js itself warns of an unreadable file.
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
