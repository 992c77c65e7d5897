import type { KeyObject } from 'node:crypto';
import { AsnConvert } from '@peculiar/asn1-schema';
import {
  Extension,
  id_ce_cRLNumber,
  id_ce_authorityKeyIdentifier,
  id_ce_issuingDistributionPoint,
  IssuingDistributionPoint,
  Time,
} from '@peculiar/asn1-x509';
import { DER_BIT_STRING, DER_INTEGER, DER_SEQUENCE, derAt, derElements } from './der.js';
import { serialOf } from './parse-certificate.js';
import { isSignedBy, type Signed } from './verify-signature.js';

/** A revocation list (RFC 5280, 5). Times are Unix milliseconds. */
export interface RevocationList {
  readonly issuerDer: Buffer;
  readonly thisUpdate: number;
  /** null = without one. */
  readonly nextUpdate: number | null;
  readonly serialNumbers: ReadonlySet<string>;
  /** What a certificate that is not listed has to name as its distribution point; null = anything. */
  readonly points: readonly string[] | null;
  readonly covers: 'all' | 'clients' | 'authorities';
  /** Whether it lists some revoked certificates only, so that one not listed may be revoked too. */
  readonly isPartial: boolean;
  readonly signed: Signed;
}

/** The certificate that a list is searched for. */
export interface ListedCertificate {
  readonly issuerDer: Buffer;
  readonly serialNumber: string;
  readonly crlUrls: readonly string[];
  readonly isAuthority: boolean;
}

/** `missing`: no list says anything about it. */
export type ListAnswer = 'good' | 'revoked' | 'expired' | 'missing';

/** @throws Error when the text is no revocation list */
export function parseRevocationList(pem: string): RevocationList {
  return parseRevocationListDer(Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64'));
}

/** @throws Error when the bytes are not exactly one revocation list */
export function parseRevocationListDer(der: Buffer): RevocationList {
  const list = derAt(der, 0);
  const [tbs, algorithm, signature, ...more] = derElements(list.contents);
  if (
    list.tag !== DER_SEQUENCE ||
    list.whole.length !== der.length ||
    tbs?.tag !== DER_SEQUENCE ||
    algorithm === undefined ||
    signature?.tag !== DER_BIT_STRING ||
    more.length > 0
  ) {
    throw new Error('This is no revocation list.');
  }
  const signed = {
    data: tbs.whole,
    algorithm: algorithm.whole,
    signature: signature.contents.subarray(1),
  };
  return { ...readFields(tbs.contents), signed };
}

function readFields(contents: Buffer): Omit<RevocationList, 'signed'> {
  const fields = [...derElements(contents)];
  if (fields[0]?.tag === DER_INTEGER) {
    fields.shift();
  }
  const [, issuer, thisUpdate, ...rest] = fields;
  if (issuer === undefined || thisUpdate === undefined) {
    throw new Error('The revocation list lacks a field.');
  }
  const hasNext = rest[0] !== undefined && TIMES.has(rest[0].tag);
  const nextUpdate = hasNext ? rest.shift() : undefined;
  const revoked = rest[0]?.tag === DER_SEQUENCE ? rest.shift() : undefined;
  const extensions = rest[0]?.tag === EXTENSIONS ? derAt(rest[0].contents, 0).contents : EMPTY;
  return {
    issuerDer: Buffer.from(issuer.whole),
    thisUpdate: timeOf(thisUpdate.whole),
    nextUpdate: nextUpdate === undefined ? null : timeOf(nextUpdate.whole),
    serialNumbers: serialsIn(revoked?.contents ?? EMPTY),
    ...scopeOf(extensions),
  };
}

const EMPTY = Buffer.alloc(0);
const TIMES: ReadonlySet<number> = new Set([0x17, 0x18]);
/** `[0]`, explicit. */
const EXTENSIONS = 0xa0;

const timeOf = (der: Buffer): number => AsnConvert.parse(der, Time).getTime().getTime();

function serialsIn(revoked: Buffer): ReadonlySet<string> {
  const serials = new Set<string>();
  for (const { contents } of derElements(revoked)) {
    serials.add(serialOf(derAt(contents, 0).contents));
  }
  return serials;
}

const READ: ReadonlySet<string> = new Set([
  id_ce_authorityKeyIdentifier,
  id_ce_cRLNumber,
  id_ce_issuingDistributionPoint,
]);

/** A critical extension that is not implemented (a delta list, say) makes a list partial. */
function scopeOf(extensions: Buffer): Pick<RevocationList, 'points' | 'covers' | 'isPartial'> {
  const read = [...derElements(extensions)].map(({ whole }) => AsnConvert.parse(whole, Extension));
  const hasUnknown = read.some(({ extnID, critical }) => critical && !READ.has(extnID));
  const scope = read.find(({ extnID }) => extnID === id_ce_issuingDistributionPoint);
  if (scope === undefined) {
    return { points: null, covers: 'all', isPartial: hasUnknown };
  }
  const limits = AsnConvert.parse(scope.extnValue.buffer, IssuingDistributionPoint);
  const { distributionPoint: point } = limits;
  const points = point?.fullName?.flatMap((name) => name.uniformResourceIdentifier ?? []);
  const covered = limits.onlyContainsUserCerts ? 'clients' : 'all';
  return {
    points: point === undefined ? null : (points ?? []),
    covers: limits.onlyContainsCACerts ? 'authorities' : covered,
    isPartial:
      hasUnknown ||
      limits.onlySomeReasons !== undefined ||
      limits.indirectCRL ||
      limits.onlyContainsAttributeCerts,
  };
}

/**
 * What lists of its issuer say about a certificate. That one lists it counts whatever the age of the
 * list; that none does counts only from a current one that has it in its scope.
 */
export function searchLists(
  certificate: ListedCertificate,
  lists: readonly RevocationList[],
  now: number,
): ListAnswer {
  const own = lists.filter(({ issuerDer }) => issuerDer.equals(certificate.issuerDer));
  if (own.some(({ serialNumbers }) => serialNumbers.has(certificate.serialNumber))) {
    return 'revoked';
  }
  const others = certificate.isAuthority ? 'clients' : 'authorities';
  const responsible = own.filter(
    ({ points, covers, isPartial }) =>
      !isPartial &&
      covers !== others &&
      (points === null || points.some((one) => certificate.crlUrls.includes(one))),
  );
  if (responsible.length === 0) {
    return 'missing';
  }
  const isCurrent = responsible.some(({ nextUpdate }) => nextUpdate === null || now <= nextUpdate);
  return isCurrent ? 'good' : 'expired';
}

/** Whether the key signed the list; the answer is remembered for each key. */
export function isListSignedBy(list: RevocationList, key: KeyObject, keyName: string): boolean {
  const answers = verified.get(list) ?? new Map<string, boolean>();
  verified.set(list, answers);
  const known = answers.get(keyName) ?? isSignedBy(key, list.signed);
  answers.set(keyName, known);
  return known;
}

const verified = new WeakMap<RevocationList, Map<string, boolean>>();
