/** A person as a signal names them: by the subject, or by the verified e-mail address. */
export type SubjectName = { readonly subject: string } | { readonly email: string };

const LONGEST = 320;

/**
 * Reads a subject identifier (RFC 9493, 3.2) of the format `email`, `iss_sub` or `opaque`.
 *
 * @param issuers that name people of the provider; a subject of another issuer is no person of it
 * @returns `foreign` for a subject of another issuer; null for an identifier that is malformed or of
 *   another format
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

/** PostgreSQL stores no null character in a text. */
function isName(value: unknown): value is string {
  return (
    typeof value === 'string' && value !== '' && value.length <= LONGEST && !value.includes('\0')
  );
}
