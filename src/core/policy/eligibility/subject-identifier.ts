/** A person as a signal names them: by the subject, or by the verified e-mail address. */
export type SubjectName = { readonly subject: string } | { readonly email: string };

/** The people that an event names, and their session at the provider; null = every session. */
interface EventSubject {
  readonly names: readonly SubjectName[];
  readonly session: string | null;
}

const LONGEST = 320;

/**
 * Reads a subject identifier (RFC 9493, 3.2) of the format `email`, `iss_sub` or `opaque`.
 * @returns `foreign` for a subject of another issuer; null for a malformed or another one
 */
export function readSubject(
  identifier: unknown,
  issuers: readonly string[],
): SubjectName | 'foreign' | null {
  if (typeof identifier !== 'object' || identifier === null) {
    return null;
  }
  const { format, email, iss, sub, id } = identifier as Readonly<Record<string, unknown>>;
  switch (format) {
    case 'email':
      return isName(email) && email.includes('@') ? { email } : null;
    case 'opaque':
      return isName(id) ? { subject: id } : null;
    case 'iss_sub': {
      if (!isName(sub) || typeof iss !== 'string') {
        return null;
      }
      return issuers.includes(iss) ? { subject: sub } : 'foreign';
    }
    default:
      return null;
  }
}

const FORMATS: readonly unknown[] = ['account', 'aliases', 'complex', 'email', 'iss_sub', 'opaque'];
const MEMBERS = ['user', 'session', 'device', 'tenant'] as const;
const NO_ONE: EventSubject = { names: [], session: null };

/**
 * Reads a simple identifier, `account` (`acct:` is read as the e-mail address), `aliases`, or a
 * complex one with `user` and `session` (SSF 1.0, 3).
 * @returns null for a malformed one; no names for no person of the provider, and for other formats
 */
export function readEventSubject(
  identifier: unknown,
  issuers: readonly string[],
): EventSubject | null {
  if (typeof identifier !== 'object' || identifier === null) {
    return null;
  }
  const given = identifier as Readonly<Record<string, unknown>>;
  const isComplex = MEMBERS.some((member) => given[member] !== undefined);
  if (given['format'] !== 'complex' && (given['format'] !== undefined || !isComplex)) {
    const names = readPerson(identifier, issuers);
    return names && { names, session: null };
  }
  const { user, session } = given;
  const names = user === undefined ? [] : readPerson(user, issuers);
  const sessionId = session === undefined ? { subject: null } : readSubject(session, issuers);
  if (!isComplex || names === null || sessionId === null) {
    return null;
  }
  if (sessionId === 'foreign') {
    return NO_ONE;
  }
  // Without its session, the event would be about every session of the person.
  return 'subject' in sessionId ? { names, session: sessionId.subject } : null;
}

function readPerson(identifier: unknown, issuers: readonly string[]): SubjectName[] | null {
  const { format, identifiers } = (identifier ?? {}) as Readonly<Record<string, unknown>>;
  if (format !== 'aliases') {
    return namesOf(identifier, issuers);
  }
  const read = Array.isArray(identifiers)
    ? identifiers.map((part: unknown) => namesOf(part, issuers))
    : [null];
  return read.some((names) => names === null) ? null : read.flatMap((names) => names ?? []);
}

function namesOf(identifier: unknown, issuers: readonly string[]): SubjectName[] | null {
  const { format, uri } = (identifier ?? {}) as Readonly<Record<string, unknown>>;
  if (isName(format) && !FORMATS.includes(format)) {
    return [];
  }
  const account = format === 'account' && typeof uri === 'string' ? /^acct:(.+)$/.exec(uri) : null;
  const plain = account === null ? identifier : { format: 'email', email: account[1] };
  const name = readSubject(plain, issuers);
  return name === 'foreign' ? [] : name && [name];
}

/** PostgreSQL stores no null character in a text. */
function isName(value: unknown): value is string {
  return (
    typeof value === 'string' && value !== '' && value.length <= LONGEST && !value.includes('\0')
  );
}
