import { createHash } from 'node:crypto';
import type { AuditKind } from '../../policy/audit-event.js';

/** What a login stores of itself. Times are in whole seconds where the token repeats them. */
export interface NewSession {
  /** UUID; the `jti` of the token. */
  readonly id: string;
  /** `key_challenge`, `mtls`, `device` or a provider's id. */
  readonly method: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly clientName: string | null;
  readonly clientPlatform: string | null;
  readonly address: string | null;
  /** {@link hashOfProviderSession}; null = the login was part of none. */
  readonly providerSession: Buffer | null;
}

/** Under which a session is found again when its provider ends its own: of bounded length. */
export function hashOfProviderSession(provider: string, session: string): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([provider, session]))
    .digest();
}

const SESSION_COLUMNS = `"session_id", "method", "at", "until", "client_name", "client_platform", "address", "provider_session"`;
const SESSION_TYPES = [
  ...['uuid', 'text', 'timestamptz', 'timestamptz'],
  ...['text', 'text', 'text', 'bytea'],
];

/** One array a column, for {@link newSessions}. */
export function sessionParameters(sessions: readonly NewSession[]): unknown[][] {
  return [
    sessions.map(({ id }) => id),
    sessions.map(({ method }) => method),
    sessions.map(({ createdAt }) => createdAt),
    sessions.map(({ expiresAt }) => expiresAt),
    sessions.map(({ clientName }) => clientName),
    sessions.map(({ clientPlatform }) => clientPlatform),
    sessions.map(({ address }) => address),
    sessions.map(({ providerSession }) => providerSession),
  ];
}

/**
 * A relation of the sessions to make, from the parameters `$first` on.
 *
 * @param more types of further columns by their names, as the parameters after those
 */
export function newSessions(first: number, more: Readonly<Record<string, string>> = {}): string {
  const types = [...SESSION_TYPES, ...Object.values(more)];
  const arrays = types.map((type, index) => `$${first + index}::${type}[]`).join(', ');
  const columns = [SESSION_COLUMNS, ...Object.keys(more).map((name) => `"${name}"`)].join(', ');
  return `unnest(${arrays}) AS "asked" (${columns})`;
}

/** Live sessions of the account in `found`, and those of other logins at the same moment. */
export const SESSION_COUNT = `
  ((SELECT count(*) FROM "session" WHERE "session"."account_id" = "found"."id")
    + count(*) OVER (PARTITION BY "id") - 1)::int`;

/**
 * Parts of a `WITH` that store the session of each row of `source` and its audit events: every
 * login's own statement ends with them.
 *
 * @param source a relation with the columns of {@link newSessions}, and `id` and `token_epoch` of
 *   the account
 * @param kinds of the events, in their order
 */
export function sessionsFrom(source: string, kinds: readonly AuditKind[] = ['logged-in']): string {
  return `
  "begun" AS (
    INSERT INTO "session" ("id", "account_id", "token_epoch", "created_at", "last_seen_at",
      "expires_at", "method", "client_name", "client_platform", "address", "provider_session")
    SELECT "session_id", "id", "token_epoch", "at", "at", "until", "method", "client_name",
      "client_platform", "address", "provider_session"
    FROM ${source}),
  "logged" AS (
    INSERT INTO "audit_event" ("at", "kind", "actor", "account_id", "provider", "session_id",
      "address")
    SELECT "at", "kind", 'user', "id", "method", "session_id", "address"
    FROM ${source}, unnest(ARRAY[${kinds.map((kind) => `'${kind}'`).join(', ')}]) AS "kind")`;
}
