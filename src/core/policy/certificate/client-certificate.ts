import { foldCase, isDomainOf } from '../eligibility/comparable-names.js';

export type CertificateIdentitySource = 'san_email' | 'san_upn' | 'subject_cn' | 'fingerprint';

export interface CertificateFacts {
  /** Every rfc822Name of the subject alternative name, unchanged. */
  readonly emails: readonly string[];
  /** Every user principal name (otherName 1.3.6.1.4.1.311.20.2.3), unchanged. */
  readonly upns: readonly string[];
  readonly commonNames: readonly string[];
  /** SHA-256 of the certificate, lower-case hex; null = not forwarded. */
  readonly fingerprint: string | null;
  /** null = not forwarded. */
  readonly issuer: DistinguishedName | null;
  /** Unix milliseconds; null = not forwarded, the proxy checked it. */
  readonly validity: { readonly notBefore: number; readonly notAfter: number } | null;
  /** Object identifiers of the extended key usages; null = no restriction (RFC 5280, 4.2.1.12). */
  readonly usages: readonly string[] | null;
}

export interface CertificateRules {
  readonly identitySource: CertificateIdentitySource;
  /** Lower-case domains that an e-mail or UPN may have, whole. Empty = any. */
  readonly allowedEmailDomains: readonly string[];
  /** Common names, or full names in the form of RFC 4514. Empty = any. */
  readonly allowedIssuers: readonly string[];
}

type CertificateRefusal =
  | 'expired'
  | 'not-yet-valid'
  | 'wrong-usage'
  | 'issuer-not-allowed'
  | 'no-identity'
  | 'empty-identity'
  | 'control-characters'
  | 'wildcard-identity'
  | 'malformed-identity'
  | 'domain-not-allowed'
  | 'ambiguous-identity';

export type CertificateVerdict =
  | {
      readonly isAllowed: true;
      /** `<source>:<value>`: another source never names the same account. */
      readonly subject: string;
      /** For people. */
      readonly login: string;
    }
  | { readonly isAllowed: false; readonly reason: CertificateRefusal };

export const CLIENT_AUTHENTICATION = '1.3.6.1.5.5.7.3.2';

export function judgeClientCertificate(
  facts: CertificateFacts,
  rules: CertificateRules,
  now: number,
): CertificateVerdict {
  const unfit = unfitness(facts, now);
  if (unfit !== null) {
    return refused(unfit);
  }
  if (!isIssuerAllowed(facts.issuer, rules.allowedIssuers)) {
    return refused('issuer-not-allowed');
  }
  return identify(facts, rules);
}

function unfitness({ validity, usages }: CertificateFacts, now: number): CertificateRefusal | null {
  if (validity !== null && now > validity.notAfter) {
    return 'expired';
  }
  if (validity !== null && now < validity.notBefore) {
    return 'not-yet-valid';
  }
  return usages === null || usages.includes(CLIENT_AUTHENTICATION) ? null : 'wrong-usage';
}

function isIssuerAllowed(issuer: DistinguishedName | null, allowed: readonly string[]): boolean {
  if (allowed.length === 0) {
    return true;
  }
  if (issuer === null) {
    return false;
  }
  const [commonName, ...more] = commonNamesOf(issuer);
  return allowed.some((entry) => {
    if (!entry.includes('=')) {
      return more.length === 0 && entry === commonName;
    }
    const name = parseDistinguishedName(entry);
    return name !== null && isSameName(name, issuer);
  });
}

/** One hostile value refuses the certificate: its issuer does not check its input. */
function identify(facts: CertificateFacts, rules: CertificateRules): CertificateVerdict {
  const source = rules.identitySource;
  const found = candidates(facts, source);
  if (found.length === 0) {
    return refused('no-identity');
  }
  const flaw = found.map((value) => flawOf(value, source)).find((reason) => reason !== null);
  if (flaw !== undefined) {
    return refused(flaw);
  }
  const values = [...new Set(found.map((value) => normalized(value, source)))];
  const allowed = values.filter((value) => isDomainAllowed(value, source, rules));
  const [login, ...others] = allowed;
  if (login === undefined) {
    return refused('domain-not-allowed');
  }
  return others.length > 0
    ? refused('ambiguous-identity')
    : { isAllowed: true, subject: `${source}:${login}`, login };
}

function candidates(facts: CertificateFacts, source: CertificateIdentitySource): readonly string[] {
  return {
    san_email: facts.emails,
    san_upn: facts.upns,
    subject_cn: facts.commonNames,
    fingerprint: facts.fingerprint === null ? [] : [facts.fingerprint],
  }[source];
}

const isAddress = (source: CertificateIdentitySource): boolean =>
  source === 'san_email' || source === 'san_upn';

const HOST = String.raw`[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?`;
const SHAPES: Readonly<Record<CertificateIdentitySource, RegExp>> = {
  // No quoted local parts: they are not in use, and parsers split them differently.
  san_email: /^[A-Za-z0-9.!#$%&'+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]+$/,
  san_upn: /^[^\s"(),:;<>@[\\\]]{1,64}@[\p{L}\p{N}.-]+$/u,
  subject_cn: /^\S(?:.*\S)?$/u,
  fingerprint: /^[0-9a-f]{64}$/,
};
const DOMAIN = new RegExp(String.raw`@${HOST}(?:\.${HOST})*$`, 'u');
const MAX_CHARACTERS = 320;

function flawOf(value: string, source: CertificateIdentitySource): CertificateRefusal | null {
  if (value.trim() === '') {
    return 'empty-identity';
  }
  // Format characters hide text or change its direction.
  if (/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\ufffd]/u.test(value)) {
    return 'control-characters';
  }
  if (value.includes('*')) {
    return 'wildcard-identity';
  }
  const isWellFormed =
    value.length <= MAX_CHARACTERS &&
    SHAPES[source].test(value) &&
    (!isAddress(source) || DOMAIN.test(value));
  return isWellFormed ? null : 'malformed-identity';
}

/** Domains are case-insensitive. Local parts may be case-sensitive, so they stay unchanged. */
function normalized(value: string, source: CertificateIdentitySource): string {
  const text = value.normalize('NFC');
  if (!isAddress(source)) {
    return text;
  }
  const at = text.lastIndexOf('@');
  return text.slice(0, at) + foldCase(text.slice(at));
}

function isDomainAllowed(
  value: string,
  source: CertificateIdentitySource,
  { allowedEmailDomains }: CertificateRules,
): boolean {
  const domain = value.slice(value.lastIndexOf('@') + 1);
  return (
    !isAddress(source) ||
    allowedEmailDomains.length === 0 ||
    isDomainOf(allowedEmailDomains, domain)
  );
}

function refused(reason: CertificateRefusal): CertificateVerdict {
  return { isAllowed: false, reason };
}

interface NameAttribute {
  readonly type: string;
  readonly value: string;
}

/** In the order of the certificate: sets of attributes, the most general one first. */
export type DistinguishedName = readonly (readonly NameAttribute[])[];

export const COMMON_NAME = '2.5.4.3';

/** Short names of RFC 4514 and those that openssl prints, in lower case. */
const TYPES: Readonly<Record<string, string>> = {
  cn: COMMON_NAME,
  sn: '2.5.4.4',
  serialnumber: '2.5.4.5',
  c: '2.5.4.6',
  l: '2.5.4.7',
  st: '2.5.4.8',
  s: '2.5.4.8',
  street: '2.5.4.9',
  o: '2.5.4.10',
  ou: '2.5.4.11',
  title: '2.5.4.12',
  gn: '2.5.4.42',
  dc: '0.9.2342.19200300.100.1.25',
  uid: '0.9.2342.19200300.100.1.1',
  emailaddress: '1.2.840.113549.1.9.1',
};

/** Escaped pairs, and characters that need no escape. */
const VALUE = /(?:\\[0-9a-f]{2}|\\[ "#+,;<=>\\]|[^\\",;+<>\0])*/iy;
const TYPE = /\s*([a-z][a-z0-9-]*|\d+(?:\.\d+)+)\s*=\s*/iy;

/**
 * Reads RFC 4514, with the spaces that openssl puts around `,` and `=`.
 * @returns null for anything that could be read in two ways
 */
export function parseDistinguishedName(text: string): DistinguishedName | null {
  const name: NameAttribute[][] = [];
  let isSameSet = false;
  let position = 0;
  for (;;) {
    const type = matchAt(TYPE, text, position);
    const oid = toObjectIdentifier(type?.[1] ?? '');
    if (type === null || oid === null) {
      return null;
    }
    const raw = matchAt(VALUE, text, position + type[0].length)?.[0] ?? '';
    position += type[0].length + raw.length;
    const value = unescape(raw);
    if (value === null) {
      return null;
    }
    const set = (isSameSet && name.pop()) || [];
    name.push([...set, { type: oid, value }]);
    if (position === text.length) {
      return name;
    }
    const separator = text[position];
    if (separator !== ',' && separator !== '+') {
      return null;
    }
    isSameSet = separator === '+';
    position += 1;
  }
}

export function commonNamesOf(name: DistinguishedName): string[] {
  return name.flat().flatMap(({ type, value }) => (type === COMMON_NAME ? [value] : []));
}

/** The names may be written from either end. */
export function isSameName(a: DistinguishedName, b: DistinguishedName): boolean {
  const wanted = spelled(a);
  return wanted === spelled(b) || wanted === spelled([...b].reverse());
}

function spelled(name: DistinguishedName): string {
  const sets = name.map((set) =>
    set.map(({ type, value }) => JSON.stringify([type, value.normalize('NFC')])).sort(),
  );
  return JSON.stringify(sets);
}

function toObjectIdentifier(type: string): string | null {
  return /^\d/.test(type) ? type : (TYPES[type.toLowerCase()] ?? null);
}

/** Escaped bytes are UTF-8 (RFC 4514, 2.4); null when they are not. */
function unescape(raw: string): string | null {
  const trimmed = raw.replace(/(?<!\\) +$/, '');
  const encoded = trimmed.replace(
    /\\([0-9a-f]{2})|\\(.)|%/gi,
    (match, hex?: string, char?: string) => (hex ? `%${hex}` : encodeURIComponent(char ?? match)),
  );
  try {
    return decodeURIComponent(encoded);
  } catch {
    return null;
  }
}

function matchAt(pattern: RegExp, text: string, position: number): RegExpExecArray | null {
  pattern.lastIndex = position;
  return pattern.exec(text);
}
