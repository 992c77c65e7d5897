import { AsnConvert, AsnProp, AsnPropTypes, BitString, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AuthorityKeyIdentifier,
  BasicConstraints,
  CRLDistributionPoints,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_certificatePolicies,
  id_ce_cRLDistributionPoints,
  id_ce_extKeyUsage,
  id_ce_inhibitAnyPolicy,
  id_ce_keyUsage,
  id_ce_nameConstraints,
  id_ce_policyConstraints,
  id_ce_policyMappings,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  KeyUsage,
  type KeyUsageFlags,
  Version,
  type Certificate,
} from '@peculiar/asn1-x509';

const NETSCAPE_CERT_TYPE = '2.16.840.1.113730.1.1';
const PROXY_CERT_INFO = '1.3.6.1.5.5.7.1.14';
const IP_ADDRESS_BLOCKS = '1.3.6.1.5.5.7.1.7';
const AUTONOMOUS_SYSTEMS = '1.3.6.1.5.5.7.1.8';
const RSASSA_PSS = '1.2.840.113549.1.1.10';
const EC_PUBLIC_KEY = '1.2.840.10045.2.1';
const OBJECT_IDENTIFIER_TAG = 0x06;
const NETSCAPE_SSL_CLIENT = 0x01;
const NETSCAPE_AUTHORITIES = 0xe0;

/**
 * Extensions that may be critical: those read here and in parse-certificate, and the certificate
 * policies, as the initial policy set is any-policy (RFC 5280, 6.1.1 c).
 */
const HANDLED: ReadonlySet<string> = new Set([
  id_ce_basicConstraints,
  id_ce_certificatePolicies,
  id_ce_cRLDistributionPoints,
  id_ce_extKeyUsage,
  id_ce_inhibitAnyPolicy,
  id_ce_keyUsage,
  id_ce_nameConstraints,
  id_ce_policyConstraints,
  id_ce_policyMappings,
  id_ce_subjectAltName,
  NETSCAPE_CERT_TYPE,
]);

/** Impersonation (RFC 3820) and address resources (RFC 3779): of no use for a login. */
const UNSUPPORTED = [PROXY_CERT_INFO, IP_ADDRESS_BLOCKS, AUTONOMOUS_SYSTEMS];

/** Extensions whose critical flag RFC 5280 forbids (4.2.1.1, 4.2.1.2). */
const NEVER_CRITICAL = [id_ce_authorityKeyIdentifier, id_ce_subjectKeyIdentifier];

/** What path validation asks of a certificate beside its names and dates. */
export interface CertificateProfile {
  /** Whether it has a critical extension that this server does not know. */
  readonly hasUnknownCritical: boolean;
  /** Whether it has an extension that changes who may use it, in ways not implemented here. */
  readonly hasUnsupported: boolean;
  readonly hasNameConstraints: boolean;
  /** null = no basicConstraints. */
  readonly constraints: {
    readonly isAuthority: boolean;
    readonly isCritical: boolean;
    /** Certificates that may stand between this authority and a leaf; null = any number. */
    readonly pathLength: number | null;
  } | null;
  /** Bits of `KeyUsageFlags`; null = not restricted. */
  readonly keyUsage: number | null;
  /** Whether a Netscape certificate type is absent, or says a TLS client and no authority. */
  readonly isNetscapeClient: boolean;
  /** Lower-case hex. */
  readonly subjectKeyId: string | null;
  /** What it says of the certificate above it. */
  readonly authority: AuthorityReference;
  /** Whether extensions, criticality and version keep RFC 5280, 4.1.2.1, 4.2.1.1 and 4.2.1.2. */
  readonly isWellVersioned: boolean;
  readonly isVersion3: boolean;
  /** null = no subjectAltName. */
  readonly isAltNameCritical: boolean | null;
  /** Of the signature; RSASSA-PSS by the object identifier of its hash. */
  readonly signatureAlgorithm: string;
  /** False for a curve that is spelled out in parameters (RFC 5480, 2.1.1). */
  readonly hasNamedCurve: boolean;
}

/** The authority key identifier (RFC 5280, 4.2.1.1); null where it does not say. */
export interface AuthorityReference {
  /** Lower-case hex. */
  readonly keyId: string | null;
  /** Lower-case hex. */
  readonly serialNumber: string | null;
  /** DER of the name of the issuer of the certificate above. */
  readonly issuerDer: Buffer | null;
  /** Whether issuer and serial number stand together or not at all. */
  readonly isPaired: boolean;
}

/** RFC 4055, 3.1. The hash is SHA-1 where it is absent. */
class PssParameters {
  @AsnProp({ type: AlgorithmIdentifier, context: 0, optional: true })
  hash?: AlgorithmIdentifier;

  @AsnProp({ type: AlgorithmIdentifier, context: 1, optional: true })
  mask?: AlgorithmIdentifier;

  @AsnProp({ type: AsnPropTypes.Integer, context: 2, optional: true })
  saltLength?: number;

  @AsnProp({ type: AsnPropTypes.Integer, context: 3, optional: true })
  trailer?: number;
}

/** Extensions by object identifier, each of them once. */
export type Extensions = ReadonlyMap<
  string,
  { readonly isCritical: boolean; readonly value: ArrayBuffer }
>;

/**
 * Reads what path validation needs.
 *
 * @throws Error when an extension is not in its grammar
 */
export function readProfile(
  { tbsCertificate: tbs, signatureAlgorithm }: Certificate,
  extensions: Extensions,
): CertificateProfile {
  const netscape = readExtension(extensions, NETSCAPE_CERT_TYPE, BitString)?.toNumber() ?? null;
  const isVersion3 = tbs.version === Version.v3;
  // Distribution points are not followed, but have to be readable.
  readExtension(extensions, id_ce_cRLDistributionPoints, CRLDistributionPoints);
  return {
    hasUnknownCritical: [...extensions].some(([id, one]) => one.isCritical && !HANDLED.has(id)),
    hasUnsupported: UNSUPPORTED.some((id) => extensions.has(id)),
    hasNameConstraints: extensions.has(id_ce_nameConstraints),
    constraints: readConstraints(extensions),
    keyUsage: readExtension(extensions, id_ce_keyUsage, KeyUsage)?.toNumber() ?? null,
    isNetscapeClient:
      netscape === null ||
      (netscape & (NETSCAPE_SSL_CLIENT | NETSCAPE_AUTHORITIES)) === NETSCAPE_SSL_CLIENT,
    subjectKeyId: hexOf(readExtension(extensions, id_ce_subjectKeyIdentifier, OctetString)?.buffer),
    authority: readAuthority(extensions),
    isWellVersioned:
      (isVersion3 || extensions.size === 0) &&
      !NEVER_CRITICAL.some((id) => extensions.get(id)?.isCritical),
    isVersion3,
    isAltNameCritical: extensions.get(id_ce_subjectAltName)?.isCritical ?? null,
    signatureAlgorithm: signatureName(signatureAlgorithm),
    hasNamedCurve: hasNamedCurve(tbs.subjectPublicKeyInfo.algorithm),
  };
}

/** @returns null when the certificate does not have it */
export function readExtension<T>(extensions: Extensions, id: string, Type: new () => T): T | null {
  const extension = extensions.get(id);
  return extension === undefined ? null : AsnConvert.parse(extension.value, Type);
}

function readAuthority(extensions: Extensions): AuthorityReference {
  const {
    keyIdentifier,
    authorityCertIssuer: issuer,
    authorityCertSerialNumber: serial,
  } = readExtension(extensions, id_ce_authorityKeyIdentifier, AuthorityKeyIdentifier) ?? {};
  const name = issuer?.find(({ directoryName }) => directoryName !== undefined)?.directoryName;
  return {
    keyId: hexOf(keyIdentifier?.buffer),
    serialNumber: serial === undefined ? null : serialOf(serial),
    issuerDer: name === undefined ? null : Buffer.from(AsnConvert.serialize(name)),
    isPaired: (issuer === undefined) === (serial === undefined),
  };
}

function readConstraints(extensions: Extensions): CertificateProfile['constraints'] {
  const basic = readExtension(extensions, id_ce_basicConstraints, BasicConstraints);
  const isCritical = extensions.get(id_ce_basicConstraints)?.isCritical ?? false;
  return basic === null
    ? null
    : { isAuthority: basic.cA, isCritical, pathLength: basic.pathLenConstraint ?? null };
}

function hasNamedCurve({ algorithm, parameters }: AlgorithmIdentifier): boolean {
  const [tag] = new Uint8Array(parameters ?? new ArrayBuffer(0));
  return algorithm !== EC_PUBLIC_KEY || tag === OBJECT_IDENTIFIER_TAG;
}

/** Whether the key may be used so; a certificate without key usages restricts nothing. */
export function allowsKeyUse({ keyUsage }: CertificateProfile, flags: KeyUsageFlags): boolean {
  return keyUsage === null || (keyUsage & flags) !== 0;
}

function signatureName({ algorithm, parameters }: AlgorithmIdentifier): string {
  if (algorithm !== RSASSA_PSS) {
    return algorithm;
  }
  const pss = AsnConvert.parse(parameters ?? new ArrayBuffer(0), PssParameters);
  return pss.hash?.algorithm ?? algorithm;
}

function hexOf(bytes: ArrayBuffer | undefined): string | null {
  return bytes === undefined ? null : Buffer.from(bytes).toString('hex');
}

/** Serial numbers may have leading zero bytes; two that differ only there are the same number. */
export function serialOf(bytes: ArrayBuffer): string {
  return Buffer.from(bytes)
    .toString('hex')
    .replace(/^(?:00)+/, '');
}
