import { createHash, type KeyObject } from 'node:crypto';
import { AsnConvert } from '@peculiar/asn1-schema';
import { Extension, id_kp_OCSPSigning, KeyUsageFlags, Time } from '@peculiar/asn1-x509';
import {
  DER_BIT_STRING,
  DER_INTEGER,
  DER_SEQUENCE,
  derAt,
  derElements,
  type DerElement,
} from './der.js';
import { allowsKeyUse, parseCertificate, serialOf } from './parse-certificate.js';
import { isSignedBy, type Signed } from './verify-signature.js';

export interface OcspQuestion {
  /** DER. */
  readonly issuerName: Buffer;
  readonly issuerKey: KeyObject;
  /** Lower-case hex without leading zero bytes. */
  readonly serialNumber: string;
  /** 1 to 32 bytes (RFC 8954). */
  readonly nonce: Buffer;
}

/** Times are Unix milliseconds. `until`: when newer information is due; null = not said. */
export type OcspAnswer =
  | { readonly status: 'good' | 'revoked'; readonly until: number | null }
  | {
      readonly status: 'unknown';
      readonly reason: 'ocsp_refused' | 'ocsp_unknown' | 'ocsp_invalid' | 'ocsp_outdated';
    };

const OCTET_STRING = 0x04;
const NULL = 0x05;
const OBJECT_ID = 0x06;
const ENUMERATED = 0x0a;
const GENERALIZED_TIME = 0x18;
/** `[n]`, explicit. */
const tagged = (number: number): number => 0xa0 + number;

/** SHA-1, which every responder supports, names the issuer here and protects nothing (RFC 6960, 4.1.1). */
const SHA1 = Buffer.from('2b0e03021a', 'hex');
const NONCE = Buffer.from('2b0601050507300102', 'hex');
const NONCE_ID = '1.3.6.1.5.5.7.48.1.2';

const CLOCK_DIFFERENCE_MS = 5 * 60_000;
/** An answer without `nextUpdate` has to be of the moment. */
const MOMENT_MS = 60 * 60_000;

export function encodeOcspRequest(question: OcspQuestion): Buffer {
  const { serialNumber, nonce } = question;
  const { nameHash, keyHash } = hashesOf(question);
  const serial = Buffer.from(serialNumber === '' ? '00' : serialNumber, 'hex');
  const positive = (serial[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), serial]) : serial;
  const certId = encode(
    DER_SEQUENCE,
    encode(DER_SEQUENCE, encode(OBJECT_ID, SHA1), encode(NULL)),
    encode(OCTET_STRING, nameHash),
    encode(OCTET_STRING, keyHash),
    encode(DER_INTEGER, positive),
  );
  const extension = encode(
    DER_SEQUENCE,
    encode(OBJECT_ID, NONCE),
    encode(OCTET_STRING, encode(OCTET_STRING, nonce)),
  );
  const requests = encode(DER_SEQUENCE, encode(DER_SEQUENCE, certId));
  const extensions = encode(tagged(2), encode(DER_SEQUENCE, extension));
  return encode(DER_SEQUENCE, encode(DER_SEQUENCE, requests, extensions));
}

/** The issuer, or a responder that it authorized, signs a valid response (RFC 6960, 4.2). */
export function readOcspResponse(der: Buffer, question: OcspQuestion, now: number): OcspAnswer {
  try {
    const response = basicResponse(der);
    if (response === null) {
      return { status: 'unknown', reason: 'ocsp_refused' };
    }
    return isGenuine(response, question, now)
      ? answerIn(response.data, question, now)
      : { status: 'unknown', reason: 'ocsp_invalid' };
  } catch {
    return { status: 'unknown', reason: 'ocsp_invalid' };
  }
}

interface BasicResponse extends Signed {
  /** The responder's certificates, DER. */
  readonly certificates: readonly Buffer[];
}

/** @returns null when the responder reports an error */
function basicResponse(der: Buffer): BasicResponse | null {
  const [status, bytes] = fieldsOf(derAt(der, 0), DER_SEQUENCE);
  if (status?.tag !== ENUMERATED || bytes === undefined || status.contents.readUInt8(0) !== 0) {
    return null;
  }
  const [, response] = fieldsOf(derAt(bytes.contents, 0), DER_SEQUENCE);
  const basic = derAt(response?.contents ?? Buffer.alloc(0), 0);
  const [data, algorithm, signature, certificates] = fieldsOf(basic, DER_SEQUENCE);
  if (data === undefined || algorithm === undefined || signature?.tag !== DER_BIT_STRING) {
    throw new Error('This is no basic OCSP response.');
  }
  const list = certificates === undefined ? [] : fieldsOf(derAt(certificates.contents, 0));
  return {
    data: data.whole,
    algorithm: algorithm.whole,
    signature: signature.contents.subarray(1),
    certificates: list.map(({ whole }) => whole),
  };
}

function isGenuine(response: BasicResponse, question: OcspQuestion, now: number): boolean {
  const { issuerName, issuerKey } = question;
  const delegates = response.certificates.flatMap((der) => {
    const one = parseCertificate(der);
    const { validity = null, usages = null } = one?.facts ?? {};
    const isDelegate =
      one !== null &&
      one.issuerDer.equals(issuerName) &&
      usages?.includes(id_kp_OCSPSigning) === true &&
      allowsKeyUse(one.profile, KeyUsageFlags.digitalSignature) &&
      !one.profile.hasUnknownCritical &&
      validity !== null &&
      now >= validity.notBefore &&
      now <= validity.notAfter &&
      one.x509.verify(issuerKey);
    return isDelegate ? [one.x509.publicKey] : [];
  });
  return [issuerKey, ...delegates].some((key) => isSignedBy(key, response));
}

/** @param data the signed ResponseData */
function answerIn(data: Buffer, question: OcspQuestion, now: number): OcspAnswer {
  const fields = fieldsOf(derAt(data, 0), DER_SEQUENCE);
  const responses = fields.find(({ tag }) => tag === DER_SEQUENCE);
  const extensions = extensionsIn(fields, 2);
  if (responses === undefined || !areKnown(extensions) || !hasRightNonce(extensions, question)) {
    return { status: 'unknown', reason: 'ocsp_invalid' };
  }
  const [own, ...others] = fieldsOf(responses).filter((single) => isAbout(single, question));
  // Two answers about one certificate: which of them counts would be a guess.
  return own === undefined || others.length > 0
    ? { status: 'unknown', reason: 'ocsp_invalid' }
    : singleAnswer(fieldsOf(own), now);
}

/** @param fields of the SingleResponse */
function singleAnswer(fields: readonly DerElement[], now: number): OcspAnswer {
  if (!areKnown(extensionsIn(fields, 3))) {
    return { status: 'unknown', reason: 'ocsp_invalid' };
  }
  const [, status, thisUpdate, next] = fields;
  const from = timeOf(thisUpdate);
  const until = next?.tag === tagged(0) ? timeOf(derAt(next.contents, 0)) : null;
  const isCurrent =
    from <= now + CLOCK_DIFFERENCE_MS && now <= (until ?? from + MOMENT_MS) + CLOCK_DIFFERENCE_MS;
  if (!isCurrent) {
    return { status: 'unknown', reason: 'ocsp_outdated' };
  }
  switch (status?.tag) {
    case 0x80:
      return { status: 'good', until };
    case 0xa1:
      return { status: 'revoked', until };
    default:
      return { status: 'unknown', reason: 'ocsp_unknown' };
  }
}

function isAbout(single: DerElement, question: OcspQuestion): boolean {
  const [certId] = fieldsOf(single);
  const [, nameHash, keyHash, serial] = certId === undefined ? [] : fieldsOf(certId);
  const expected = hashesOf(question);
  return (
    nameHash?.contents.equals(expected.nameHash) === true &&
    keyHash?.contents.equals(expected.keyHash) === true &&
    serial !== undefined &&
    serialOf(serial.contents) === question.serialNumber
  );
}

/** @param from the position of the first field that may be the extensions */
function extensionsIn(fields: readonly DerElement[], from: number): readonly Extension[] {
  const found = fields.find(({ tag }, index) => tag === tagged(1) && index >= from);
  const list = found === undefined ? [] : fieldsOf(derAt(found.contents, 0));
  return list.map(({ whole }) => AsnConvert.parse(whole, Extension));
}

/** A critical extension that is not implemented may change what the answer says (RFC 6960, 4.4). */
function areKnown(extensions: readonly Extension[]): boolean {
  return extensions.every(({ extnID, critical }) => !critical || extnID === NONCE_ID);
}

/** Responders that make their answers in advance repeat no nonce (RFC 9654, 2). */
function hasRightNonce(extensions: readonly Extension[], { nonce }: OcspQuestion): boolean {
  const found = extensions.find(({ extnID }) => extnID === NONCE_ID);
  return (
    found === undefined || Buffer.from(found.extnValue.buffer).equals(encode(OCTET_STRING, nonce))
  );
}

function hashesOf({ issuerName, issuerKey }: OcspQuestion) {
  const info = issuerKey.export({ type: 'spki', format: 'der' });
  const [, bits] = fieldsOf(derAt(info, 0));
  const key = bits?.contents.subarray(1) ?? Buffer.alloc(0);
  return { nameHash: sha1(issuerName), keyHash: sha1(key) };
}

const sha1 = (bytes: Buffer): Buffer => createHash('sha1').update(bytes).digest();

/** @throws Error when it is not of that tag */
function fieldsOf(element: DerElement, tag = element.tag): DerElement[] {
  if (element.tag !== tag) {
    throw new Error('An element of another kind was expected.');
  }
  return [...derElements(element.contents)];
}

function timeOf(element: DerElement | undefined): number {
  if (element?.tag !== GENERALIZED_TIME) {
    throw new Error('A time was expected.');
  }
  return AsnConvert.parse(element.whole, Time).getTime().getTime();
}

function encode(tag: number, ...parts: readonly Buffer[]): Buffer {
  const contents = Buffer.concat(parts);
  const { length } = contents;
  const head = length < 0x80 ? [length] : longLength(length);
  return Buffer.concat([Buffer.of(tag, ...head), contents]);
}

/** The request is shorter than 65,536 bytes, so that two bytes of length are enough. */
function longLength(length: number): number[] {
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}
