import { readFileSync } from 'node:fs';
import type { KitVectors } from './kit-report.js';

function vectorsOf(name: string): unknown {
  const file = new URL(`../vectors/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** The files of test/vectors for the report of the client kit. */
export const KIT_VECTORS = {
  ed25519: vectorsOf('ed25519-rfc8032'),
  hkdf: vectorsOf('hkdf-rfc5869'),
  xchacha: vectorsOf('xchacha20-poly1305'),
  content: vectorsOf('account-content'),
  device: vectorsOf('device-sealing'),
  requests: vectorsOf('agent-requests'),
} as KitVectors;
