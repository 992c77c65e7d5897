import type { AuditEvent, AuditKind } from '../../core/policy/audit-event.js';

/**
 * The reason that a backend reads for each kind of audit event; null = the kind ends no access. The
 * compiler demands a row for every kind.
 */
export const CAUSE_REASONS = {
  'token-revoked': 'The session was ended.',
  'all-tokens-revoked': 'All sessions of the account were ended.',
  'directory-deactivated': 'The directory deactivated the person.',
  'account-disabled': 'The account was disabled.',
  'account-deleted': 'The account was deleted.',
  'identity-unlinked': 'An identity was removed from the account.',
  'eligibility-lost': 'A provider does not confirm the account any more.',
  'program-ended': 'The access of a program was ended.',
  'signed-up': null,
  'logged-in': null,
  'login-refused': null,
  'identity-linked': null,
  'eligibility-regained': null,
  'device-approved': null,
  'device-refused': null,
  'push-token-added': null,
  'push-token-removed': null,
  'request-answered': null,
  'program-approved': null,
  'invitation-created': null,
  'invitation-used': null,
  'invitation-revoked': null,
  'recheck-requested': null,
  'account-enabled': null,
  'admin-logged-in': null,
  'admin-login-refused': null,
  'admin-refused': null,
  'signing-keys-rotated': null,
  'directory-activated': null,
  'refusal-ended': null,
} as const satisfies Record<AuditKind, string | null>;

/** The audit events that end access. */
export const CAUSES = Object.entries(CAUSE_REASONS).flatMap(([kind, reason]) =>
  reason === null ? [] : [kind as AuditKind],
);

/** Reasons without an audit event: the limit of sessions, and rules that changed or time that passed. */
const SESSION_LIMIT = 'The account has too many sessions.';
const RULES = 'The rules do not admit the account any more.';

type InitiatingEntity = 'user' | 'admin' | 'policy';

interface Cause {
  readonly reason: string;
  readonly initiatingEntity: InitiatingEntity;
}

/**
 * Returns why a session at a backend ended.
 *
 * @param code with which an exchange is refused; null = the session or the account ended
 */
export function causeOf(
  event: Pick<AuditEvent, 'kind' | 'actor'> | null,
  code: string | null,
): Cause {
  const reason = event && CAUSE_REASONS[event.kind];
  if (event === null || reason === null) {
    return { reason: code === null ? SESSION_LIMIT : RULES, initiatingEntity: 'policy' };
  }
  return { reason, initiatingEntity: entityOf(event.actor) };
}

/** Any other actor is an operator. */
function entityOf(actor: AuditEvent['actor']): InitiatingEntity {
  if (actor === 'user') {
    return 'user';
  }
  return actor === 'system' || actor === 'provider' ? 'policy' : 'admin';
}
