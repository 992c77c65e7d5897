import { AsnConvert } from '@peculiar/asn1-schema';
import {
  Extension,
  id_ce_cRLNumber,
  id_ce_authorityKeyIdentifier,
  id_ce_deltaCRLIndicator,
  id_ce_issuingDistributionPoint,
  IssuingDistributionPoint,
  Time,
} from '@peculiar/asn1-x509';
import { DER_BIT_STRING, DER_INTEGER, DER_SEQUENCE, derAt, derElements } from './der.js';
import { serialOf } from './parse-certificate.js';
import { isSignedBy, type IssuerKey, type Signed } from './verify-signature.js';

/** A revocation list (RFC 5280, 5). Times are Unix milliseconds. */
export interface RevocationList {
  readonly issuerDer: Buffer;
  readonly thisUpdate: number;
  /** Its `nextUpdate`; for a list without one, the end of the longest age that was given. */
  readonly validUntil: number;
  readonly serialNumbers: ReadonlySet<string>;
  /** A certificate that is not listed has to name one of these distribution points; null = any. */
  readonly points: readonly string[] | null;
  readonly covers: 'all' | 'clients' | 'authorities';
  /** True if it lists some reasons only: a certificate that is not listed may be revoked too. */
  readonly isPartial: boolean;
  /** False for delta and indirect lists and unknown critical extensions (RFC 5280, 5.2, 5.3). */
  readonly isUsable: boolean;
  readonly signed: Signed;
}

export interface ListedCertificate {
  readonly issuerDer: Buffer;
  readonly serialNumber: string;
  /** Keys of its issuer. Without one no list can be verified. */
  readonly issuerKeys: readonly IssuerKey[];
  readonly crlUrls: readonly string[];
  readonly isAuthority: boolean;
}

/** `missing`: no list says anything about it. `unverifiable`: no key of its issuer is known. */
export type ListAnswer = 'good' | 'revoked' | 'expired' | 'missing' | 'unverifiable';

export interface ListReading {
  /** Validity of a list without `nextUpdate`. */
  readonly maxAgeMs: number;
  /** Resolves in the next turn of the event loop, between two slices of a long list. */
  readonly nextTurn: () => Promise<void>;
}

/** Reads a list of DER, as RFC 5280 wants it, or of PEM. @throws like {@link parseRevocationListDer} */
export function readRevocationList(body: Buffer, reading: ListReading): Promise<RevocationList> {
  return body[0] === 0x30
    ? parseRevocationListDer(body, reading)
    : parseRevocationList(body.toString(), reading);
}

export function parseRevocationList(pem: string, reading: ListReading): Promise<RevocationList> {
  const der = Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64');
  return parseRevocationListDer(der, reading);
}

/**
 * Reads in slices, so that a long list does not block. {@link isBelieved} verifies it.
 * @throws Error when the bytes are not exactly one revocation list
 */
export async function parseRevocationListDer(
  der: Buffer,
  reading: ListReading,
): Promise<RevocationList> {
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
  return { ...(await readFields(tbs.contents, algorithm.whole, reading)), signed };
}

async function readFields(
  contents: Buffer,
  algorithm: Buffer,
  { maxAgeMs, nextTurn }: ListReading,
): Promise<Omit<RevocationList, 'signed'>> {
  const fields = [...derElements(contents)];
  if (fields[0]?.tag === DER_INTEGER) {
    fields.shift();
  }
  const [signedWith, issuer, issued, ...rest] = fields;
  // RFC 5280, 5.1.2.2.
  if (
    signedWith?.whole.equals(algorithm) !== true ||
    issuer === undefined ||
    issued === undefined
  ) {
    throw new Error('The revocation list lacks a field, or names two algorithms.');
  }
  const hasNext = rest[0] !== undefined && TIMES.has(rest[0].tag);
  const nextUpdate = hasNext ? rest.shift() : undefined;
  const revoked = rest[0]?.tag === DER_SEQUENCE ? rest.shift() : undefined;
  const extensions = rest[0]?.tag === EXTENSIONS ? derAt(rest[0].contents, 0).contents : EMPTY;
  const thisUpdate = timeOf(issued.whole);
  const { isUsable, ...scope } = scopeOf(extensions);
  const entries = await readEntries(revoked?.contents ?? EMPTY, nextTurn);
  return {
    issuerDer: Buffer.from(issuer.whole),
    thisUpdate,
    validUntil: nextUpdate === undefined ? thisUpdate + maxAgeMs : timeOf(nextUpdate.whole),
    serialNumbers: entries.serialNumbers,
    isUsable: isUsable && !entries.hasUnknownCritical,
    ...scope,
  };
}

const EMPTY = Buffer.alloc(0);
const TIMES: ReadonlySet<number> = new Set([0x17, 0x18]);
/** `[0]`, explicit. */
const EXTENSIONS = 0xa0;

const timeOf = (der: Buffer): number => AsnConvert.parse(der, Time).getTime().getTime();

/** Entries that are read before other work of the event loop continues: a few milliseconds. */
export const ENTRIES_AT_ONCE = 1000;

async function readEntries(revoked: Buffer, nextTurn: ListReading['nextTurn']) {
  const serialNumbers = new Set<string>();
  let hasUnknownCritical = false;
  let read = 0;
  for (const { contents } of derElements(revoked)) {
    const [serial, , extensions] = derElements(contents);
    if (serial?.tag !== DER_INTEGER) {
      throw new Error('An entry of the revocation list has no serial number.');
    }
    serialNumbers.add(serialOf(serial.contents));
    hasUnknownCritical ||= hasUnknownEntryExtension(extensions?.contents ?? EMPTY);
    read += 1;
    if (read % ENTRIES_AT_ONCE === 0) {
      await nextTurn();
    }
  }
  return { serialNumbers, hasUnknownCritical };
}

/** Object identifiers of `reasonCode` and `invalidityDate`, which change nothing here. */
const ENTRY_EXTENSIONS: ReadonlySet<string> = new Set(['551d15', '551d18']);
const BOOLEAN = 0x01;

/** The grammar would take too long for each of many entries. */
function hasUnknownEntryExtension(extensions: Buffer): boolean {
  for (const { contents } of derElements(extensions)) {
    const [id, critical] = derElements(contents);
    const isCritical = critical?.tag === BOOLEAN && critical.contents[0] !== 0;
    if (isCritical && !ENTRY_EXTENSIONS.has(id?.contents.toString('hex') ?? '')) {
      return true;
    }
  }
  return false;
}

const READ: ReadonlySet<string> = new Set([
  id_ce_authorityKeyIdentifier,
  id_ce_cRLNumber,
  id_ce_issuingDistributionPoint,
]);

function scopeOf(
  extensions: Buffer,
): Pick<RevocationList, 'points' | 'covers' | 'isPartial' | 'isUsable'> {
  const read = [...derElements(extensions)].map(({ whole }) => AsnConvert.parse(whole, Extension));
  const isComplete = !read.some(
    ({ extnID, critical }) => extnID === id_ce_deltaCRLIndicator || (critical && !READ.has(extnID)),
  );
  const scope = read.find(({ extnID }) => extnID === id_ce_issuingDistributionPoint);
  if (scope === undefined) {
    return { points: null, covers: 'all', isPartial: false, isUsable: isComplete };
  }
  const limits = AsnConvert.parse(scope.extnValue.buffer, IssuingDistributionPoint);
  const { distributionPoint: point } = limits;
  const points = point?.fullName?.flatMap((name) => name.uniformResourceIdentifier ?? []);
  const covered = limits.onlyContainsUserCerts ? 'clients' : 'all';
  return {
    points: point === undefined ? null : (points ?? []),
    covers: limits.onlyContainsCACerts ? 'authorities' : covered,
    isPartial: limits.onlySomeReasons !== undefined,
    isUsable: isComplete && !limits.indirectCRL && !limits.onlyContainsAttributeCerts,
  };
}

/** Clocks of authorities may be ahead of this server's by that much. */
const CLOCK_DIFFERENCE_MS = 5 * 60_000;

export function isInFuture({ thisUpdate }: RevocationList, now: number): boolean {
  return thisUpdate > now + CLOCK_DIFFERENCE_MS;
}

/** A list counts if it is usable, not issued in the future, and signed by one of the keys. */
export function isBelieved(list: RevocationList, keys: readonly IssuerKey[], now: number): boolean {
  return (
    list.isUsable &&
    !isInFuture(list, now) &&
    keys.some((key) => key.signsLists && isListSignedBy(list, key))
  );
}

/**
 * Searches the lists that the issuer of the certificate signed. A listed one is revoked whatever
 * the age of the list; another is good only by a current list with it in its scope.
 */
export function searchLists(
  certificate: ListedCertificate,
  lists: readonly RevocationList[],
  now: number,
): ListAnswer {
  const { issuerKeys } = certificate;
  if (issuerKeys.length === 0) {
    return 'unverifiable';
  }
  const own = lists.filter(
    (list) => list.issuerDer.equals(certificate.issuerDer) && isBelieved(list, issuerKeys, now),
  );
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
  return responsible.some(({ validUntil }) => now <= validUntil) ? 'good' : 'expired';
}

function isListSignedBy(list: RevocationList, { key, name }: IssuerKey): boolean {
  const answers = verified.get(list) ?? new Map<string, boolean>();
  verified.set(list, answers);
  const known = answers.get(name) ?? isSignedBy(key, list.signed);
  answers.set(name, known);
  return known;
}

const verified = new WeakMap<RevocationList, Map<string, boolean>>();

export interface ListChange {
  readonly issuerDer: Buffer;
  readonly revoked: readonly string[];
}

export function newlyRevoked(list: RevocationList, before: readonly RevocationList[]): ListChange {
  const { issuerDer } = list;
  const own = before.filter((one) => one.issuerDer.equals(issuerDer));
  const isNew = (serial: string): boolean => !own.some((one) => one.serialNumbers.has(serial));
  return { issuerDer, revoked: [...list.serialNumbers].filter(isNew) };
}
