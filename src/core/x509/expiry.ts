import { X509Certificate } from 'node:crypto';
import type { RevocationList } from './revocation-list.js';
import { commonNameOf } from './parse-certificate.js';
import { CERTIFICATE_BLOCKS } from './pem.js';

/** Lifetime of a certificate or of a revocation list, Unix milliseconds. */
export interface Lifetime {
  /** Common name of the subject, or of the issuer of a list. */
  readonly name: string;
  readonly startsAt: number;
  readonly expiresAt: number;
}

/** Returns the lifetimes of all readable certificates of a PEM text. */
export function certificateLifetimes(pem: string): Lifetime[] {
  return (pem.match(CERTIFICATE_BLOCKS) ?? []).flatMap((block) => {
    try {
      const { subject, serialNumber, validFrom, validTo } = new X509Certificate(block);
      const name = /^CN=(.*)$/m.exec(subject ?? '')?.[1] ?? `serial number ${serialNumber}`;
      return [{ name, startsAt: Date.parse(validFrom), expiresAt: Date.parse(validTo) }];
    } catch {
      return [];
    }
  });
}

export function listLifetime({ issuerDer, thisUpdate, validUntil }: RevocationList): Lifetime {
  return { name: commonNameOf(issuerDer), startsAt: thisUpdate, expiresAt: validUntil };
}
