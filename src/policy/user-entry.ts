/** What an entry of a list of users names. */
export type UserEntryKind = 'subject' | 'login' | 'email' | 'name';

export interface UserEntry {
  /** `name`: no prefix and no `@`, so it may be a login or a subject. */
  readonly kind: UserEntryKind;
  /** Without the prefix. */
  readonly value: string;
}

const PREFIXES = { 'sub:': 'subject', 'login:': 'login', 'email:': 'email' } as const;

/**
 * Reads an entry of a list of users. `sub:`, `login:` and `email:` say what is meant. Without a
 * prefix, an entry with `@` is an e-mail address and nothing else: a login is text that people may
 * choose, and one person could choose the address of another.
 */
export function readUserEntry(entry: string): UserEntry {
  for (const [prefix, kind] of Object.entries(PREFIXES)) {
    if (entry.toLowerCase().startsWith(prefix)) {
      return { kind, value: entry.slice(prefix.length).trim() };
    }
  }
  return { kind: entry.includes('@') ? 'email' : 'name', value: entry };
}

/** What is wrong with an entry, to follow its place in the configuration; null when nothing is. */
export function userEntryFailure(entry: string): string | null {
  const { kind, value } = readUserEntry(entry);
  if (value === '') {
    return 'has an entry with nothing after its prefix.';
  }
  return kind === 'email' && !value.includes('@')
    ? 'has an entry with email: and no e-mail address after it.'
    : null;
}
