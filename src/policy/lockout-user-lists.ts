import type { UserList } from './access-facts.js';
import type { LockoutRule } from './lockout-rule.js';
import { readUserEntry, type UserEntryKind } from './user-entry.js';

/** Entries of lists of users that match other people than was meant, or no person at all. */
export const USER_LIST_WARNINGS: readonly LockoutRule[] = [
  {
    code: 'allowlist-entry-can-be-chosen',
    find: ({ userLists }) => userLists.flatMap(choosableEntries),
  },
  {
    code: 'email-rule-never-met',
    find: ({ userLists }) => userLists.filter(asksForEmail).map(neverMet),
  },
];

function choosableEntries({ place, users, choosableLogin }: UserList): string[] {
  const names = choosableLogin === null ? [] : entriesOf('name', users);
  return names.length === 0
    ? []
    : [
        `${place} has ${names.map((name) => JSON.stringify(name)).join(', ')}, which the claim ${choosableLogin} can match: at many providers people choose it themselves. Write sub:<subject> or email:<address>, or login:<name> where only an administrator can set it.`,
      ];
}

function asksForEmail({ users, emailsCount, asksForDomains }: UserList): boolean {
  return !emailsCount && (asksForDomains || entriesOf('email', users).length > 0);
}

function neverMet({ provider, place }: UserList): string {
  return provider === 'github'
    ? `${place} has an e-mail address, which no person can match: GitHub is asked for none. Write the login or sub:<numeric id>.`
    : `${provider} has a rule about e-mail addresses, which no person can meet: email_verified vouches for the claim email only, and claims.email names another one. Set emailVerification to trustedIssuer if only an administrator can set that claim.`;
}

function entriesOf(kind: UserEntryKind, users: readonly string[]): string[] {
  return users.filter((user) => readUserEntry(user).kind === kind);
}
