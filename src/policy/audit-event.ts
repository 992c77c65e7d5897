/** What acts by itself; an operator cannot have such a name. */
const ACTOR_KINDS = ['user', 'system', 'provider'] as const;

export type ActorKind = (typeof ACTOR_KINDS)[number];

declare const isOperatorName: unique symbol;

/** The name of an operator, as {@link toOperatorName} accepts it. */
export type OperatorName = string & { readonly [isOperatorName]: true };

/** Letters, digits, punctuation and spaces: no control characters, none that change the direction. */
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,64}$/u;

/**
 * Reads the name under which the audit trail keeps what an operator does: 1 to 64 printable characters
 * without spaces around them, and not one of the kinds above in any spelling.
 *
 * @returns null for a text that is no such name
 */
export function toOperatorName(text: string): OperatorName | null {
  // Full-width letters and the like are compared as the plain ones that they are shown as.
  const spelling = text.normalize('NFKC').toLowerCase().trim();
  const isKind = ACTOR_KINDS.some((kind) => kind === spelling);
  return PRINTABLE.test(text) && text === text.trim() && !isKind ? (text as OperatorName) : null;
}

/** Everything the audit trail can say that happened. */
export const AUDIT_KINDS = [
  'signed-up',
  'logged-in',
  'login-refused',
  'identity-linked',
  'identity-unlinked',
  'eligibility-lost',
  'eligibility-regained',
  'token-revoked',
  'all-tokens-revoked',
  'device-approved',
  'device-refused',
  'invitation-created',
  'invitation-used',
  'invitation-revoked',
  'recheck-requested',
  'account-disabled',
  'account-enabled',
  'account-deleted',
] as const;

export type AuditKind = (typeof AUDIT_KINDS)[number];

/** Something that happened to an account. Never holds a token, a secret or a person's name. */
export interface AuditEvent {
  readonly kind: AuditKind;
  /** A kind, or the name of the operator; before names were kept, `admin` stood for every operator. */
  readonly actor: ActorKind | OperatorName;
  readonly accountId: string | null;
  readonly provider?: string;
  /** An error code, an eligibility reason, or the words an administrator gave. */
  readonly reason?: string;
  /** The invitation that was made, revoked, or used by this account; then the actor is its inviter. */
  readonly invitationId?: string;
  /** The session that a login began, that ended, or that answered for a device. */
  readonly sessionId?: string;
  /** The address that a login or an answer for a device came from. */
  readonly address?: string;
  /** How many alike this one stands for; 1 when absent. */
  readonly count?: number;
}

/** An event as it was stored; `at` in Unix milliseconds. */
export interface StoredAuditEvent extends AuditEvent {
  readonly id: string;
  readonly at: number;
}
