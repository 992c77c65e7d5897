import { isIPv4 } from 'node:net';
import type { CertificateNames, ComparableName, GeneralName } from './certificate-names.js';
import { toGeneralName } from './certificate-names.js';
import { derAt, derElements, type DerElement } from './der.js';

/** The names that an authority may certify (RFC 5280, 4.2.1.10). */
export interface NameConstraints {
  readonly permitted: readonly Subtree[];
  readonly excluded: readonly Subtree[];
}

interface Subtree {
  readonly base: GeneralName;
  /** False with a `minimum` or `maximum`, of which RFC 5280 defines no use. */
  readonly isUnbounded: boolean;
}

/** @throws RangeError when the value is not in its grammar */
export function readNameConstraints(value: Buffer): NameConstraints {
  const trees = { permitted: [] as Subtree[], excluded: [] as Subtree[] };
  for (const { tag, contents } of derElements(derAt(value, 0).contents)) {
    const list = { [PERMITTED]: trees.permitted, [EXCLUDED]: trees.excluded }[tag];
    if (list === undefined) {
      throw new RangeError('The element is not a list of subtrees.');
    }
    list.push(...[...derElements(contents)].map(toSubtree));
  }
  return trees;
}

const PERMITTED = 0xa0;
const EXCLUDED = 0xa1;
const MINIMUM = 0x80;

function toSubtree({ contents }: DerElement): Subtree {
  const [base, ...bounds] = [...derElements(contents)];
  if (base === undefined) {
    throw new RangeError('The subtree has no base.');
  }
  const isUnbounded = bounds.every((one) => one.tag === MINIMUM && one.contents.equals(ZERO));
  return { base: toGeneralName(base), isUnbounded };
}

const ZERO = Buffer.of(0);

/** Comparisons for one path: crafted lists of names and constraints must not keep a core busy. */
const MAX_COMPARISONS = 100_000;

interface ConstrainedCertificate {
  readonly names: CertificateNames;
  readonly nameConstraints: NameConstraints | null;
}

/**
 * RFC 5280, 6.1.3 b and c: every authority above, the anchor included, has to permit each name.
 * @param path the client's own certificate first
 * @returns the position of a certificate whose names are refused; null = none is
 */
export function outsideConstraints(path: readonly ConstrainedCertificate[]): number | null {
  const checks = path.flatMap(({ names }, index) => {
    // A new certificate of the same authority may name it, whatever it may certify (6.1.4 k).
    const isExempt = index > 0 && isSelfIssued(names);
    const above = path.slice(index + 1).flatMap(({ nameConstraints: own }) => own ?? []);
    return isExempt || above.length === 0 ? [] : [{ index, names, above }];
  });
  const comparisons = checks.map(({ names, above }) => namesIn(names) * subtreesIn(above));
  if (comparisons.reduce((sum, count) => sum + count, 0) > MAX_COMPARISONS) {
    return 0;
  }
  const refused = checks.find(({ index, names, above }) => {
    const constrained = constrainedNames(names, index === 0);
    return (
      constrained === null ||
      above.some((constraints) => !constrained.every((name) => isWithin(name, constraints)))
    );
  });
  return refused?.index ?? null;
}

/** Compares issuer and subject (RFC 5280, 3.2). */
export function isSelfIssued({ issuer, subject }: CertificateNames): boolean {
  return issuer.length === subject.length && startsWith(issuer, subject);
}

const namesIn = ({ subject, subjectEmails, commonNames, alternative }: CertificateNames): number =>
  subject.length + subjectEmails.length + commonNames.length + alternative.length;

const subtreesIn = (constraints: readonly NameConstraints[]): number =>
  constraints.reduce((sum, { permitted, excluded }) => sum + permitted.length + excluded.length, 0);

/** @returns null when one of the names cannot be compared */
function constrainedNames(
  { subject, subjectEmails, commonNames, alternative }: CertificateNames,
  isLeaf: boolean,
): GeneralName[] | null {
  // Without a DNS name, programs read one from the common name (RFC 6125, 6.4.4).
  const hasHosts = !isLeaf || alternative.some(({ form }) => form === 'dns');
  const hosts = hasHosts ? [] : commonNames.map((name) => name?.replace(/\0+$/, '') ?? null);
  const emails = [...subjectEmails];
  if (emails.includes(null) || hosts.some((name) => name === null || name.includes('\0'))) {
    return null;
  }
  return [
    ...(subject.length === 0 ? [] : [{ form: 'directory', name: subject } as const]),
    ...emails.map((text) => ({ form: 'email', text: text ?? '' }) as const),
    ...hosts
      .filter((name) => name !== null && LIKE_A_HOST.test(name))
      .map((text) => ({ form: 'dns', text: text ?? '' }) as const),
    ...alternative,
  ];
}

/** At least two labels, each with hyphens inside only. */
const LIKE_A_HOST = /^\w(?:[\w-]*\w)?(?:\.\w(?:[\w-]*\w)?)+$/;

/** A form that these constraints do not mention is not restricted. */
function isWithin(name: GeneralName, { permitted, excluded }: NameConstraints): boolean {
  const allowed = permitted.filter(({ base }) => isSameForm(name, base));
  const denied = excluded.filter(({ base }) => isSameForm(name, base));
  if (allowed.length + denied.length === 0) {
    return true;
  }
  const judged = [...allowed, ...denied].every((tree) => tree.isUnbounded && isBase(tree.base));
  return (
    judged &&
    isComparable(name) &&
    (allowed.length === 0 || allowed.some(({ base }) => matches(name, base))) &&
    !denied.some(({ base }) => matches(name, base) || mayMatch(name, base))
  );
}

const SMTP_UTF8_MAILBOX = '160:2b06010505070809';

function isSameForm(name: GeneralName, base: GeneralName): boolean {
  if (name.form === 'other') {
    // An internationalized address is one of e-mail, too (RFC 8398, 6): not comparable here.
    const isAddress = name.kind === SMTP_UTF8_MAILBOX && base.form === 'email';
    return isAddress || (base.form === 'other' && name.kind === base.kind);
  }
  return name.form === base.form;
}

const HOST = String.raw`(?:[a-z0-9_-]+\.)*[a-z0-9_-]+`;
const MAILBOX = new RegExp(String.raw`^[ -~]+@${HOST}$`, 'i');
const DNS_NAME = new RegExp(String.raw`^(?:\*\.)?${HOST}$`, 'i');
const DOMAIN = new RegExp(String.raw`^\.?${HOST}$`, 'i');
/** Without user names and the like, as programs differ in the host that they read from those. */
const PLAIN_URI = new RegExp(
  String.raw`^[a-z][a-z0-9+.-]*://(${HOST})(?::\d+(?:/.*)?|/[^:]*)?$`,
  'is',
);

const hostOf = (uri: string): string => PLAIN_URI.exec(uri)?.[1] ?? '';

/** Malformed names, and forms that are not supported, are refused where their form is constrained. */
function isComparable(name: GeneralName): boolean {
  switch (name.form) {
    case 'email':
      return MAILBOX.test(name.text);
    case 'dns':
      return DNS_NAME.test(name.text);
    case 'uri':
      return PLAIN_URI.test(name.text) && !isIPv4(hostOf(name.text));
    case 'ip':
      return name.bytes.length === 4 || name.bytes.length === 16;
    case 'directory':
      return true;
    case 'other':
      return false;
  }
}

function isBase(base: GeneralName): boolean {
  switch (base.form) {
    case 'email':
      return MAILBOX.test(base.text) || DOMAIN.test(base.text);
    case 'dns':
      return base.text === '' || DOMAIN.test(base.text);
    case 'uri':
      return DOMAIN.test(base.text);
    case 'ip':
      return (base.bytes.length === 8 || base.bytes.length === 32) && hasPlainMask(base.bytes);
    case 'directory':
      return true;
    case 'other':
      return false;
  }
}

/** The mask has to be one of CIDR (RFC 4632). */
function hasPlainMask(bytes: Buffer): boolean {
  const mask = bytes.subarray(bytes.length / 2);
  const bits = [...mask].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return !bits.includes('01');
}

function matches(name: GeneralName, base: GeneralName): boolean {
  if (name.form === 'ip' && base.form === 'ip') {
    return isInNetwork(name.bytes, base.bytes);
  }
  if (name.form === 'directory' && base.form === 'directory') {
    return startsWith(name.name, base.name);
  }
  if (!('text' in name) || !('text' in base)) {
    return false;
  }
  switch (name.form) {
    case 'email':
      return matchesMailbox(name.text, base.text);
    case 'dns':
      return base.text === '' || isHostOf(name.text, base.text) || isBelow(name.text, base.text);
    case 'uri':
      return base.text.startsWith('.')
        ? isBelow(hostOf(name.text), base.text)
        : isHostOf(hostOf(name.text), base.text);
  }
}

/** A mailbox, all mailboxes of a host, or those of the hosts below a domain. */
function matchesMailbox(address: string, base: string): boolean {
  const at = address.lastIndexOf('@');
  const host = address.slice(at + 1);
  if (base.startsWith('.') && !base.includes('@')) {
    return isBelow(host, base);
  }
  const baseAt = base.lastIndexOf('@');
  const isSameMailbox = baseAt === -1 || address.slice(0, at) === base.slice(0, baseAt);
  return isSameMailbox && isHostOf(host, base.slice(baseAt + 1));
}

/** `*.corp.example` stands for every name that an excluded `host.corp.example` could be. */
function mayMatch(name: GeneralName, base: GeneralName): boolean {
  return (
    name.form === 'dns' &&
    base.form === 'dns' &&
    name.text.startsWith('*.') &&
    isHostOf(base.text.replace(/^[^.]*/, '*'), name.text)
  );
}

const isHostOf = (host: string, other: string): boolean =>
  host.toLowerCase() === other.toLowerCase();

/** @param domain with or without a dot before it */
const isBelow = (host: string, domain: string): boolean =>
  host.toLowerCase().endsWith(domain.toLowerCase().replace(/^\.?/, '.'));

const startsWith = (name: ComparableName, start: ComparableName): boolean =>
  start.length <= name.length && start.every((part, index) => part === name[index]);

function isInNetwork(address: Buffer, network: Buffer): boolean {
  const mask = network.subarray(address.length);
  return (
    network.length === 2 * address.length &&
    address.every(
      (byte, index) => (byte & (mask[index] ?? 0)) === ((network[index] ?? 0) & (mask[index] ?? 0)),
    )
  );
}
