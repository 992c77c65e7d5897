import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  certificateDirectory,
  TestAuthority,
  type CertificateRequest,
  type IssuedCertificate,
} from '../fixtures/certificates-fixture.js';
import type { ChainFlaw } from '../../src/core/x509/certificate-chain.js';

export interface BuiltChain {
  readonly leaf: IssuedCertificate;
  /** Certificates that are sent with it, in this order. */
  readonly others: readonly IssuedCertificate[];
  /** The trust anchors. Default: {@link root} only. */
  readonly anchors?: readonly IssuedCertificate[];
}

export interface ChainRow {
  readonly name: string;
  /** The reason for which the library refuses the chain; null = it accepts. */
  readonly flaw: ChainFlaw | 'undecodable' | 'chain-too-long' | null;
  /** Where `openssl verify` accepts a chain that the library refuses, or its versions differ. */
  readonly openssl?: 'accepts' | 'varies';
  readonly build: () => BuiltChain;
}

export const directory = certificateDirectory();
export const root = TestAuthority.root(directory, 'Acme Root');
export const issuing = root.intermediate('Acme Issuing CA');
/** An authority that issued none of the others. */
export const stranger = TestAuthority.root(directory, 'Stranger', 'Other');

export const EXPIRED = { from: '20200101000000Z', until: '20210101000000Z' };
export const FUTURE = { from: '20400101000000Z', until: '20410101000000Z' };
export const AUTHORITY = 'basicConstraints=critical,CA:TRUE';
export const SIGNS = 'keyUsage=critical,keyCertSign,cRLSign';
export const RSA = (bits: number): readonly string[] => ['-newkey', `rsa:${bits}`, '-nodes'];
/** An extension of an arc for documentation (RFC 5612), which no program knows. */
export const UNKNOWN = '1.3.6.1.4.1.32473.1=critical,ASN1:UTF8String:x';

let made = 0;
const fresh = (name: string): string => `/O=Acme/CN=${name} ${(made += 1)}`;

export function own(above: TestAuthority, request: CertificateRequest = {}): IssuedCertificate {
  return above.issue({ names: ['email:alice@corp.example'], ...request });
}

/** Creates an authority below another, valid except for the changes of the request. */
export function below(above: TestAuthority, request: CertificateRequest = {}): TestAuthority {
  return TestAuthority.under(above, authorityRequest(request));
}

export function anchor(request: CertificateRequest = {}): TestAuthority {
  return TestAuthority.odd(directory, authorityRequest(request));
}

function authorityRequest(request: CertificateRequest): CertificateRequest {
  const extensions = [AUTHORITY, SIGNS];
  return { subject: fresh('Authority'), usage: null, extensions, ...request };
}

/** Combines the certificate of a client with the authorities above it, the lowest one first. */
export function chain(leaf: IssuedCertificate, ...others: IssuedCertificate[]): BuiltChain {
  return { leaf, others };
}

export function aboutLeaf(request: CertificateRequest): () => BuiltChain {
  return () => chain(own(issuing, request), issuing);
}

export function aboutIntermediate(request: CertificateRequest): () => BuiltChain {
  return () => {
    const middle = below(root, request);
    return chain(own(middle), middle);
  };
}

export function aboutRoot(request: CertificateRequest): () => BuiltChain {
  return () => {
    const top = anchor(request);
    const middle = below(top);
    return { leaf: own(middle), others: [middle], anchors: [top] };
  };
}

export function opensslAccepts(
  { leaf, others }: BuiltChain,
  anchors: readonly IssuedCertificate[],
): boolean {
  return verify([leaf], others, anchors).includes(leaf);
}

/** As {@link opensslAccepts} without other certificates, for many leaves by one process. */
export function opensslAcceptsLeaves(
  leaves: readonly IssuedCertificate[],
  anchors: readonly IssuedCertificate[],
): boolean[] {
  const accepted = new Set(verify(leaves, [], anchors));
  return leaves.map((leaf) => accepted.has(leaf));
}

/** Returns the leaves that `openssl verify` accepts. */
function verify(
  leaves: readonly IssuedCertificate[],
  others: readonly IssuedCertificate[],
  anchors: readonly IssuedCertificate[],
): IssuedCertificate[] {
  const home = mkdtempSync(join(directory, 'verify-'));
  const file = (name: string, certificates: readonly IssuedCertificate[]): string => {
    writeFileSync(join(home, name), certificates.map(({ cert }) => cert).join(''));
    return join(home, name);
  };
  const { status, stdout, stderr, error } = spawnSync(
    'openssl',
    [
      ...['verify', '-purpose', 'sslclient', '-partial_chain'],
      ...['-no-CApath', '-no-CAstore', '-CAfile', file('anchors.pem', anchors)],
      ...(others.length === 0 ? [] : ['-untrusted', file('others.pem', others)]),
      ...leaves.map(({ certPath }) => certPath),
    ],
    { encoding: 'utf8' },
  );
  if (error !== undefined || (status !== 0 && !/^error |Unable to load/m.test(stderr))) {
    throw new Error(`openssl verify did not run: ${stderr}`, { cause: error });
  }
  const lines = new Set(stdout.split('\n'));
  return leaves.filter(({ certPath }) => lines.has(`${certPath}: OK`));
}
