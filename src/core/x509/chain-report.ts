import { KeyUsageFlags } from '@peculiar/asn1-x509';
import { MAX_CHAIN, validateChain, type ChainFlaw } from './certificate-chain.js';
import { isSelfIssued } from './name-constraints.js';
import { readCertificates, type ParsedCertificate } from './parse-certificate.js';

/** A departure from RFC 5280 that makes no path unsafe, so that it is accepted. */
interface CertificateFinding {
  /** The common name of the certificate, else its fingerprint. */
  readonly certificate: string;
  readonly code: string;
  readonly message: string;
}

export interface ChainReport {
  /** The reason for which a login with the chain is refused; null = its path is valid. */
  readonly flaw: ChainFlaw | null;
  readonly findings: readonly CertificateFinding[];
}

/**
 * Validates a chain as a login does, without revocation.
 * @param chain PEM, the client's own certificate first; null = the authorities alone
 */
export function reportOnChain(
  chain: string | null,
  bundle: string,
  now: number,
): ChainReport | { readonly unreadable: 'chain' | 'bundle' } {
  const anchors = readCertificates(bundle);
  const sent = chain === null ? [] : readCertificates(chain);
  if (anchors === null || sent === null) {
    return { unreadable: anchors === null ? 'bundle' : 'chain' };
  }
  const path = chain === null ? [] : validateChain(sent, { anchors, revocations: null }, now);
  const known = anchors.filter(({ x509 }) => !sent.some((one) => one.x509.raw.equals(x509.raw)));
  return {
    flaw: typeof path === 'string' ? path : null,
    findings: findingsOf([...sent.slice(0, MAX_CHAIN), ...known]),
  };
}

function findingsOf(certificates: readonly ParsedCertificate[]): CertificateFinding[] {
  return certificates.flatMap((one) => {
    const [name = one.facts.fingerprint ?? ''] = one.facts.commonNames;
    return RULES.filter(({ applies }) => applies(one)).map(({ code, message }) => ({
      certificate: name,
      code,
      message,
    }));
  });
}

interface Rule {
  readonly code: string;
  readonly message: string;
  readonly applies: (certificate: ParsedCertificate) => boolean;
}

const isAuthority = ({ profile }: ParsedCertificate): boolean =>
  profile.constraints?.isAuthority === true;

const RULES: readonly Rule[] = [
  {
    code: 'no-authority-key-identifier',
    message: 'has no authorityKeyIdentifier with a key id (RFC 5280, 4.2.1.1)',
    applies: ({ profile, names }) => profile.authority.keyId === null && !isSelfIssued(names),
  },
  {
    code: 'unpaired-authority-key-identifier',
    message: 'names the issuer of its authority or its serial number, not both (4.2.1.1)',
    applies: ({ profile }) => !profile.authority.isPaired,
  },
  {
    code: 'no-subject-key-identifier',
    message: 'is an authority without subjectKeyIdentifier (4.2.1.2)',
    applies: (one) => isAuthority(one) && one.profile.subjectKeyId === null,
  },
  {
    code: 'no-key-usage',
    message: 'is an authority without keyUsage: its key may sign anything (4.2.1.3)',
    applies: (one) => isAuthority(one) && one.profile.keyUsage === null,
  },
  {
    code: 'basic-constraints-not-critical',
    message: 'is an authority whose basicConstraints are not critical (4.2.1.9)',
    applies: (one) => isAuthority(one) && one.profile.constraints?.isCritical === false,
  },
  {
    code: 'name-constraints-not-critical',
    message:
      'has name constraints that are not critical: other programs may ignore them (4.2.1.10)',
    applies: ({ profile }) => profile.isNameConstraintsCritical === false,
  },
  {
    code: 'signs-without-authority',
    message: 'is no authority, and its keyUsage allows keyCertSign (4.2.1.3)',
    applies: (one) =>
      !isAuthority(one) && ((one.profile.keyUsage ?? 0) & KeyUsageFlags.keyCertSign) !== 0,
  },
  {
    code: 'path-length-without-authority',
    message: 'is no authority, and has a path length (4.2.1.9)',
    applies: (one) => !isAuthority(one) && (one.profile.constraints?.pathLength ?? null) !== null,
  },
  {
    code: 'no-issuer-name',
    message: 'has an issuer without a name (4.1.2.4)',
    applies: ({ names }) => names.issuer.length === 0,
  },
  {
    code: 'no-subject-name',
    message: 'has no subject and no critical subjectAltName, or is an authority (4.1.2.6)',
    applies: (one) =>
      one.names.subject.length === 0 &&
      (isAuthority(one) || one.profile.isAltNameCritical !== true),
  },
  {
    code: 'empty-alternative-names',
    message: 'has a subjectAltName without a name (4.2.1.6)',
    applies: ({ profile, names }) =>
      profile.isAltNameCritical !== null && names.alternative.length === 0,
  },
  {
    code: 'old-version',
    message: 'is of version 1 or 2, without extensions (4.1.2.1)',
    applies: ({ profile }) => !profile.isVersion3,
  },
];
