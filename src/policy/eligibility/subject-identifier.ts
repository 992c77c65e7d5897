/** A person as a signal names them: by the subject, or by the verified e-mail address. */
export type SubjectName = { readonly subject: string } | { readonly email: string };

/** The people that an event names, and their session at the provider; null = every session. */
export interface EventSubject {
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

/**
 * Reads a simple identifier, `account` (`acct:` is read as the e-mail address), `aliases`, or a
 * complex one with `user` and `session` (SSF 1.0, 3).
 * @returns null for a malformed one; no names for no person of the provider
 */
export function readEventSubject(
  identifier: unknown,
  issuers: readonly string[],
): EventSubject | null {
  if (typeof identifier !== 'object' || identifier === null) {
    return null;
  }
  const { format, user, session, identifiers } = identifier as Readonly<Record<string, unknown>>;
  if (format === 'complex' || (format === undefined && user !== undefined)) {
    const names = namesOf(user, issuers);
    const sessionId = session === undefined ? { subject: null } : readSubject(session, issuers);
    // Without its session, the event would be about every session of the person.
    const isRead = sessionId !== null && sessionId !== 'foreign' && 'subject' in sessionId;
    return names && isRead ? { names, session: sessionId.subject } : null;
  }
  const parts: unknown = format === 'aliases' ? identifiers : [identifier];
  const read = Array.isArray(parts) ? parts.map((part) => namesOf(part, issuers)) : [null];
  return read.some((names) => names === null)
    ? null
    : { names: read.flatMap((names) => names ?? []), session: null };
}

function namesOf(identifier: unknown, issuers: readonly string[]): readonly SubjectName[] | null {
  const { format, uri } = (identifier ?? {}) as Readonly<Record<string, unknown>>;
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
