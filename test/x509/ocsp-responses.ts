import { createPrivateKey, sign } from 'node:crypto';
import { AsnConvert } from '@peculiar/asn1-schema';
import type { Extension } from '@peculiar/asn1-x509';
import {
  DER_BIT_STRING,
  DER_SEQUENCE,
  derAt,
  derElements,
  type DerElement,
} from '../../src/core/x509/der.js';
import type { TestAuthority } from '../fixtures/certificates-fixture.js';
import { der } from '../fixtures/der.js';

const OCTET_STRING = 0x04;
const EXPLICIT_0 = 0xa0;
const EXPLICIT_1 = 0xa1;

/** A response of openssl with one more extension, signed again: openssl makes no such responses. */
export function responseWith(
  response: Buffer,
  authority: Pick<TestAuthority, 'key'>,
  place: 'response' | 'single',
  extension: Extension,
): Buffer {
  const [status, bytes] = fields(derAt(response, 0));
  const [type, octets] = fields(derAt(bytes!.contents, 0));
  const [data, algorithm] = fields(derAt(octets!.contents, 0));
  const added = Buffer.from(AsnConvert.serialize(extension));
  const changed = place === 'response' ? extended(data!, 3, added) : withSingle(data!, added);
  const signature = sign('sha256', changed, createPrivateKey(authority.key));
  const basic = der(
    DER_SEQUENCE,
    changed,
    algorithm!.whole,
    der(DER_BIT_STRING, Buffer.of(0), signature),
  );
  const answer = der(DER_SEQUENCE, type!.whole, der(OCTET_STRING, basic));
  return der(DER_SEQUENCE, status!.whole, der(EXPLICIT_0, answer));
}

function withSingle(data: DerElement, extension: Buffer): Buffer {
  const parts = fields(data).map((field, index) => {
    const isResponses = index > 1 && field.tag === DER_SEQUENCE;
    return isResponses
      ? der(DER_SEQUENCE, extended(derAt(field.contents, 0), 3, extension))
      : field.whole;
  });
  return der(DER_SEQUENCE, ...parts);
}

/** @param from the position of the first field that may be the extensions */
function extended(sequence: DerElement, from: number, extension: Buffer): Buffer {
  const all = fields(sequence);
  const isExtensions = ({ tag }: DerElement, index: number): boolean =>
    tag === EXPLICIT_1 && index >= from;
  const known = all.find(isExtensions);
  const list = known === undefined ? [] : fields(derAt(known.contents, 0));
  const kept = all.filter((field, index) => !isExtensions(field, index));
  const extensions = der(DER_SEQUENCE, ...list.map(({ whole }) => whole), extension);
  return der(DER_SEQUENCE, ...kept.map(({ whole }) => whole), der(EXPLICIT_1, extensions));
}

const fields = ({ contents }: DerElement): DerElement[] => [...derElements(contents)];
