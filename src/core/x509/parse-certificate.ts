import { X509Certificate } from 'node:crypto';
import { AsnConvert, AsnProp, AsnPropTypes, BitString, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AuthorityInfoAccessSyntax,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  CRLDistributionPoints,
  DirectoryString,
  ExtendedKeyUsage,
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
  id_pe_authorityInfoAccess,
  KeyUsage,
  SubjectAlternativeName,
  Version,
  type AccessDescription,
  type GeneralName,
  Name,
  type TBSCertificate,
} from '@peculiar/asn1-x509';
import type {
  CertificateFacts,
  DistinguishedName,
} from '../policy/certificate/client-certificate.js';
import { readNames, type CertificateNames } from './certificate-names.js';
import { readNameConstraints, type NameConstraints } from './name-constraints.js';
import { CERTIFICATE_BLOCKS, decodePem } from './pem.js';

export interface ParsedCertificate {
  readonly x509: X509Certificate;
  readonly facts: CertificateFacts;
  /** Lower-case hex. */
  readonly serialNumber: string;
  /** DER of the issuer's and of its own name. */
  readonly issuerDer: Buffer;
  readonly subjectDer: Buffer;
  readonly profile: CertificateProfile;
  readonly names: CertificateNames;
  /** null = it restricts no names. */
  readonly nameConstraints: NameConstraints | null;
  /** Addresses of revocation information, http and https only. */
  readonly sources: RevocationAddresses;
}

interface RevocationAddresses {
  /** RFC 5280, 4.2.1.13. */
  readonly crlUrls: readonly string[];
  /** RFC 5280, 4.2.2.1. */
  readonly ocspUrls: readonly string[];
}

const COMMON_NAME = '2.5.4.3';
const UPN = '1.3.6.1.4.1.311.20.2.3';
const OCSP = '1.3.6.1.5.5.7.48.1';
/** Stored with the identity. */
const MAX_ADDRESS = 512;

/** @returns null when it is not exactly one well-formed certificate */
export function parseCertificate(der: Buffer): ParsedCertificate | null {
  try {
    const x509 = new X509Certificate(der);
    return x509.raw.length === der.length ? fromDer(x509) : null;
  } catch {
    return null;
  }
}

/** @returns null when there is no certificate, or one of them cannot be used */
export function readCertificates(pem: string): readonly ParsedCertificate[] | null {
  const blocks = pem.match(CERTIFICATE_BLOCKS) ?? [];
  const parsed = (decodePem(blocks.join('\n')) ?? []).map(parseCertificate);
  const certificates = parsed.filter((one) => one !== null);
  return certificates.length === 0 || certificates.length < parsed.length ? null : certificates;
}

function fromDer(x509: X509Certificate): ParsedCertificate | null {
  const certificate = AsnConvert.parse(x509.raw, Certificate);
  const { tbsCertificate: tbs } = certificate;
  const extensions = new Map(
    (tbs.extensions ?? []).map(({ extnID, critical, extnValue }) => [
      extnID,
      { isCritical: critical, value: extnValue.buffer },
    ]),
  );
  // Two of one kind: which of them counts would be each reader's guess (RFC 5280, 4.2).
  if (extensions.size !== (tbs.extensions ?? []).length || !hasPlainDates(tbs, x509.raw)) {
    return null;
  }
  const names = readExtension(extensions, id_ce_subjectAltName, SubjectAlternativeName) ?? [];
  const usages = readExtension(extensions, id_ce_extKeyUsage, ExtendedKeyUsage);
  const constraints = bytesOf(extensions, id_ce_nameConstraints);
  return {
    x509,
    facts: {
      emails: names.flatMap(({ rfc822Name }) => (rfc822Name === undefined ? [] : [rfc822Name])),
      upns: names.flatMap(upnOf),
      commonNames: commonNamesOf(tbs.subject),
      fingerprint: x509.fingerprint256.replaceAll(':', '').toLowerCase(),
      issuer: toDistinguishedName(tbs.issuer),
      validity: {
        notBefore: tbs.validity.notBefore.getTime().getTime(),
        notAfter: tbs.validity.notAfter.getTime().getTime(),
      },
      usages: usages === null ? null : [...usages],
    },
    serialNumber: serialOf(tbs.serialNumber),
    issuerDer: Buffer.from(AsnConvert.serialize(tbs.issuer)),
    subjectDer: Buffer.from(AsnConvert.serialize(tbs.subject)),
    profile: readProfile(certificate, extensions),
    names: readNames(x509.raw, bytesOf(extensions, id_ce_subjectAltName)),
    nameConstraints: constraints && readNameConstraints(constraints),
    sources: readSources(extensions),
  };
}

/** Points for some reasons only, or of another issuer's list, are left out. */
function readSources(extensions: Extensions): RevocationAddresses {
  const points =
    readExtension(extensions, id_ce_cRLDistributionPoints, CRLDistributionPoints) ?? [];
  const lists = points
    .filter(({ reasons, cRLIssuer }) => reasons === undefined && cRLIssuer === undefined)
    .flatMap(({ distributionPoint }) => distributionPoint?.fullName ?? []);
  const access = readAccess(extensions).filter(({ accessMethod }) => accessMethod === OCSP);
  const responders = access.map(({ accessLocation }) => accessLocation);
  return { crlUrls: lists.flatMap(addressOf), ocspUrls: responders.flatMap(addressOf) };
}

/** Path validation does not need the extension, so an unreadable one is as good as none. */
function readAccess(extensions: Extensions): readonly AccessDescription[] {
  try {
    return readExtension(extensions, id_pe_authorityInfoAccess, AuthorityInfoAccessSyntax) ?? [];
  } catch {
    return [];
  }
}

function addressOf({ uniformResourceIdentifier: address }: GeneralName): string[] {
  const isWeb = address !== undefined && /^https?:\/\//i.test(address) && URL.canParse(address);
  return isWeb && address.length <= MAX_ADDRESS ? [address] : [];
}

/** Dates have seconds, UTC and no fractions: programs read other forms differently (4.1.2.5). */
function hasPlainDates({ validity }: TBSCertificate, raw: Buffer): boolean {
  return raw.includes(Buffer.from(AsnConvert.serialize(validity)));
}

function upnOf({ otherName }: GeneralName): string[] {
  return otherName?.typeId === UPN
    ? [AsnConvert.parse(otherName.value, DirectoryString).toString()]
    : [];
}

function commonNamesOf(subject: Name): string[] {
  const attributes = toDistinguishedName(subject).flat();
  return attributes.filter(({ type }) => type === COMMON_NAME).map(({ value }) => value);
}

/** Returns the first common name of a DER name, or an empty text. */
export function commonNameOf(der: Buffer): string {
  return commonNamesOf(AsnConvert.parse(der, Name))[0] ?? '';
}

function toDistinguishedName(name: Name): DistinguishedName {
  return name.map((set) =>
    set.map(({ type, value }) => ({
      type,
      // A value that is no string type of names cannot be compared.
      value: value.anyValue === undefined ? value.toString() : '',
    })),
  );
}

const NETSCAPE_CERT_TYPE = '2.16.840.1.113730.1.1';
const PROXY_CERT_INFO = '1.3.6.1.5.5.7.1.14';
const IP_ADDRESS_BLOCKS = '1.3.6.1.5.5.7.1.7';
const AUTONOMOUS_SYSTEMS = '1.3.6.1.5.5.7.1.8';
export const RSASSA_PSS = '1.2.840.113549.1.1.10';
const EC_PUBLIC_KEY = '1.2.840.10045.2.1';
const OBJECT_IDENTIFIER_TAG = 0x06;
const NETSCAPE_SSL_CLIENT = 0x01;
const NETSCAPE_AUTHORITIES = 0xe0;

/** May be critical: those read here, and policies, as any policy will do (RFC 5280, 6.1.1 c). */
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

export type CertificateProfile = ReturnType<typeof readProfile>;

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
type Extensions = ReadonlyMap<
  string,
  { readonly isCritical: boolean; readonly value: ArrayBuffer }
>;

function readProfile(
  { tbsCertificate: tbs, signatureAlgorithm }: Certificate,
  extensions: Extensions,
) {
  const netscape = readExtension(extensions, NETSCAPE_CERT_TYPE, BitString)?.toNumber() ?? null;
  const isVersion3 = tbs.version === Version.v3;
  return {
    hasUnknownCritical: [...extensions].some(([id, one]) => one.isCritical && !HANDLED.has(id)),
    /** True with an extension that restricts the use in ways that are not implemented. */
    hasUnsupported: UNSUPPORTED.some((id) => extensions.has(id)),
    constraints: readConstraints(extensions),
    /** Bits of `KeyUsageFlags`; null = not restricted. */
    keyUsage: readExtension(extensions, id_ce_keyUsage, KeyUsage)?.toNumber() ?? null,
    /** True if the Netscape certificate type is absent, or names a TLS client and no authority. */
    isNetscapeClient:
      netscape === null ||
      (netscape & (NETSCAPE_SSL_CLIENT | NETSCAPE_AUTHORITIES)) === NETSCAPE_SSL_CLIENT,
    subjectKeyId: hexOf(readExtension(extensions, id_ce_subjectKeyIdentifier, OctetString)?.buffer),
    authority: readAuthority(extensions),
    /** RFC 5280, 4.1.2.1. */
    isWellVersioned: isVersion3 || extensions.size === 0,
    isVersion3,
    /** null = no subjectAltName. */
    isAltNameCritical: extensions.get(id_ce_subjectAltName)?.isCritical ?? null,
    /** null = no nameConstraints. */
    isNameConstraintsCritical: extensions.get(id_ce_nameConstraints)?.isCritical ?? null,
    /** RSASSA-PSS by the object identifier of its hash. */
    signatureAlgorithm: signatureName(signatureAlgorithm),
    /** False for a curve given by explicit parameters (RFC 5480, 2.1.1). */
    hasNamedCurve: hasNamedCurve(tbs.subjectPublicKeyInfo.algorithm),
  };
}

/** @returns null when the certificate does not have it */
function readExtension<T>(extensions: Extensions, id: string, Type: new () => T): T | null {
  const extension = extensions.get(id);
  return extension === undefined ? null : AsnConvert.parse(extension.value, Type);
}

function bytesOf(extensions: Extensions, id: string): Buffer | null {
  const extension = extensions.get(id);
  return extension === undefined ? null : Buffer.from(extension.value);
}

/** The reference to the certificate above (RFC 5280, 4.2.1.1); null where absent. */
function readAuthority(extensions: Extensions) {
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
    /** True if issuer and serial number are both present or both absent. */
    isPaired: (issuer === undefined) === (serial === undefined),
  };
}

/** `pathLength`: certificates that may be between this authority and a leaf; null = any number. */
function readConstraints(extensions: Extensions) {
  const basic = readExtension(extensions, id_ce_basicConstraints, BasicConstraints);
  const isCritical = extensions.get(id_ce_basicConstraints)?.isCritical ?? false;
  return (
    basic && { isAuthority: basic.cA, isCritical, pathLength: basic.pathLenConstraint ?? null }
  );
}

function hasNamedCurve({ algorithm, parameters }: AlgorithmIdentifier): boolean {
  const [tag] = new Uint8Array(parameters ?? new ArrayBuffer(0));
  return algorithm !== EC_PUBLIC_KEY || tag === OBJECT_IDENTIFIER_TAG;
}

/**
 * A certificate without key usages restricts nothing.
 * @param flags of `KeyUsageFlags`; one of them is enough
 */
export function allowsKeyUse({ keyUsage }: CertificateProfile, flags: number): boolean {
  return keyUsage === null || (keyUsage & flags) !== 0;
}

/** The object identifier of a signature algorithm; for RSASSA-PSS that of its hash. */
export function signatureName({ algorithm, parameters }: AlgorithmIdentifier): string {
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
export function serialOf(bytes: ArrayBuffer | Buffer): string {
  return Buffer.from(new Uint8Array(bytes))
    .toString('hex')
    .replace(/^(?:00)+/, '');
}
