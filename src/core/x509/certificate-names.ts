import { derAt, derElements, DER_SEQUENCE, type DerElement } from './der.js';

/**
 * A name as OpenSSL compares it (RFC 5280, 7.1): one text for each relative name, without letter case
 * and repeated spaces; the most general one first.
 */
export type ComparableName = readonly string[];

/** One GeneralName (RFC 5280, 4.2.1.6). */
export type GeneralName =
  | { readonly form: 'email' | 'dns' | 'uri'; readonly text: string }
  | { readonly form: 'ip'; readonly bytes: Buffer }
  | { readonly form: 'directory'; readonly name: ComparableName }
  /** A form that is not compared; `kind` is its tag, with the type of an otherName. */
  | { readonly form: 'other'; readonly kind: string };

export interface CertificateNames {
  readonly issuer: ComparableName;
  readonly subject: ComparableName;
  /** `emailAddress` attributes of the subject; null = not an IA5String. */
  readonly subjectEmails: readonly (string | null)[];
  /** null = not a string. */
  readonly commonNames: readonly (string | null)[];
  readonly alternative: readonly GeneralName[];
}

/** @param alternative value of subjectAltName @throws RangeError when the bytes are not DER */
export function readNames(certificate: Buffer, alternative: Buffer | null): CertificateNames {
  const fields = [...derElements(derAt(derAt(certificate, 0).contents, 0).contents)];
  // Version 1 leaves the version out.
  const [, , issuer, , subject] = fields[0]?.tag === VERSION ? fields.slice(1) : fields;
  if (issuer === undefined || subject === undefined) {
    throw new RangeError('The certificate has no names.');
  }
  const attributes = relativeNames(subject).flat();
  const valuesOf = (type: string) => attributes.filter((one) => one.type === type);
  const alternatives = alternative === null ? [] : [...derElements(derAt(alternative, 0).contents)];
  return {
    issuer: comparableName(issuer),
    subject: comparableName(subject),
    subjectEmails: valuesOf(EMAIL_ADDRESS).map(({ value }) =>
      value.tag === IA5_STRING ? value.contents.toString('latin1') : null,
    ),
    commonNames: valuesOf(COMMON_NAME).map(({ value }) => textOf(value)),
    alternative: alternatives.map(toGeneralName),
  };
}

/** @throws RangeError when the element is not a GeneralName */
export function toGeneralName({ tag, contents }: DerElement): GeneralName {
  const form = TEXT_FORMS.get(tag);
  if (form !== undefined) {
    return { form, text: contents.toString('latin1') };
  }
  if (tag === IP_ADDRESS) {
    return { form: 'ip', bytes: contents };
  }
  if (tag === DIRECTORY_NAME) {
    return { form: 'directory', name: comparableName(derAt(contents, 0)) };
  }
  if (!OTHER_FORMS.has(tag)) {
    throw new RangeError('The element is not a GeneralName.');
  }
  const type = tag === OTHER_NAME ? derAt(contents, 0).contents.toString('hex') : '';
  return { form: 'other', kind: `${tag}:${type}` };
}

const VERSION = 0xa0;
const OTHER_NAME = 0xa0;
const DIRECTORY_NAME = 0xa4;
const IP_ADDRESS = 0x87;
const TEXT_FORMS: ReadonlyMap<number, 'email' | 'dns' | 'uri'> = new Map([
  [0x81, 'email'],
  [0x82, 'dns'],
  [0x86, 'uri'],
] as const);
/** otherName, x400Address, ediPartyName and registeredID. */
const OTHER_FORMS: ReadonlySet<number> = new Set([OTHER_NAME, 0xa3, 0xa5, 0x88]);

/** Object identifiers 1.2.840.113549.1.9.1 and 2.5.4.3. */
const EMAIL_ADDRESS = '2a864886f70d010901';
const COMMON_NAME = '550403';

interface Attribute {
  /** Hex of the object identifier. */
  readonly type: string;
  readonly value: DerElement;
}

function relativeNames({ tag, contents }: DerElement): Attribute[][] {
  if (tag !== DER_SEQUENCE) {
    throw new RangeError('The element is not a name.');
  }
  return [...derElements(contents)].map((set) =>
    [...derElements(set.contents)].map((attribute) => {
      const type = derAt(attribute.contents, 0);
      const value = derAt(attribute.contents, type.whole.length);
      return { type: type.contents.toString('hex'), value };
    }),
  );
}

function comparableName(name: DerElement): ComparableName {
  return relativeNames(name).map((attributes) =>
    JSON.stringify(attributes.map(({ type, value }) => `${type}${comparableValue(value)}`).sort()),
  );
}

/** Other types than strings are compared by their bytes. */
function comparableValue(value: DerElement): string {
  const text = textOf(value);
  return text === null
    ? `#${value.whole.toString('hex')}`
    : `"${text
        .replace(/[ \t-\r]+/g, ' ')
        .replace(/^ | $/g, '')
        .replace(/[A-Z]+/g, (letters) => letters.toLowerCase())}`;
}

const IA5_STRING = 0x16;

/** The text of a string type; null for other types. OpenSSL reads TeletexString as Latin-1. */
function textOf({ tag, contents }: DerElement): string | null {
  switch (tag) {
    case 0x0c: // UTF8String
      return contents.toString('utf8');
    case 0x13: // PrintableString
    case 0x14: // TeletexString
    case IA5_STRING:
    case 0x1a: // VisibleString
      return contents.toString('latin1');
    case 0x1c: // UniversalString
      return fromCodeUnits(contents, 4);
    case 0x1e: // BMPString
      return fromCodeUnits(contents, 2);
    default:
      return null;
  }
}

/** @throws RangeError when a unit is cut off or no character */
function fromCodeUnits(bytes: Buffer, size: number): string {
  let text = '';
  for (let offset = 0; offset < bytes.length; offset += size) {
    text += String.fromCodePoint(bytes.readUIntBE(offset, size));
  }
  return text;
}
