import { readFileSync } from 'node:fs';
import { PACKAGE_ROOT } from './package-root.js';

export function readVersion(): string {
  const file = readFileSync(new URL('package.json', PACKAGE_ROOT), 'utf8');
  return (JSON.parse(file) as { version: string }).version;
}

/** Returns the commit of this build, which tools/build/revision.mjs determined, or `unknown`. */
export function readRevision(): string {
  try {
    return readFileSync(new URL('dist/bin/revision.txt', PACKAGE_ROOT), 'utf8').trim();
  } catch {
    return UNKNOWN;
  }
}

/** Returns the version with the revision as build metadata (SemVer 2.0.0, 10): `0.1.0+349a57aaab66`. */
export function readFullVersion(): string {
  const revision = readRevision();
  return revision === UNKNOWN ? readVersion() : `${readVersion()}+${revision}`;
}

const UNKNOWN = 'unknown';
