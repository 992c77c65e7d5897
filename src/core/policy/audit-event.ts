/** Actors without a name of their own; an operator cannot have such a name. */
const ACTOR_KINDS = ['user', 'system', 'provider'] as const;

type ActorKind = (typeof ACTOR_KINDS)[number];

declare const isOperatorName: unique symbol;

/** The name of an operator, as {@link toOperatorName} accepts it. */
export type OperatorName = string & { readonly [isOperatorName]: true };

/** No control characters, and none that change the direction. */
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,64}$/u;

/** Validates an operator's name: it is none of the kinds above in any spelling. */
export function toOperatorName(text: string): OperatorName | null {
  // Full-width letters and similar ones are compared as the plain letters that they resemble.
  const spelling = text.normalize('NFKC').toLowerCase().trim();
  const isKind = ACTOR_KINDS.some((kind) => kind === spelling);
  return PRINTABLE.test(text) && text === text.trim() && !isKind ? (text as OperatorName) : null;
}

export const AUDIT_KINDS = [
  'signed-up',
  'logged-in',
  'login-refused',
  'identity-linked',
  'identity-unlinked',
  'eligibility-lost',
  'eligibility-regained',
  'directory-deactivated',
  'directory-activated',
  'refusal-ended',
  'token-revoked',
  'all-tokens-revoked',
  'device-approved',
  'device-refused',
  'push-token-added',
  'push-token-removed',
  'request-answered',
  'program-approved',
  'program-ended',
  'invitation-created',
  'invitation-used',
  'invitation-revoked',
  'signing-keys-rotated',
  'recheck-requested',
  'account-disabled',
  'account-enabled',
  'account-deleted',
  'admin-logged-in',
  'admin-login-refused',
  'admin-refused',
] as const;

export type AuditKind = (typeof AUDIT_KINDS)[number];

/** Never holds a token or a secret. */
export interface AuditEvent {
  readonly kind: AuditKind;
  /** A kind, or the name of the operator; older events have `admin` for every operator. */
  readonly actor: ActorKind | OperatorName;
  readonly accountId: string | null;
  readonly provider?: string;
  /** An error code, an eligibility reason, or an administrator's reason. */
  readonly reason?: string;
  /** The error code of the provider of a refused login, or what of its answer was refused. */
  readonly detail?: string;
  /** The created, revoked or used invitation; for a used one, the actor is its inviter. */
  readonly invitationId?: string;
  /** The session that was created, ended, or used to answer a device or a request. */
  readonly sessionId?: string;
  /** The address of a login, of an answer for a device or of an administrator. */
  readonly address?: string;
  /** The provider's identifier of a person that the rules refused. */
  readonly subject?: string;
  readonly login?: string;
  /** As the provider verified it. */
  readonly email?: string;
  /** The last characters of a push token: at most four, and never half of it. */
  readonly tokenEnd?: string;
  /** The number of equal events that this one stands for; 1 when absent. */
  readonly count?: number;
  /** The issuer of the signal that caused it. */
  readonly issuer?: string;
  /** The `txn` of that signal: the transaction at its transmitter. */
  readonly signalTxn?: string;
}

/** The stored event of a session or a program that ended alone, not with its account. */
export interface EndEvent extends AuditEvent {
  readonly kind: 'token-revoked' | 'program-ended';
  readonly accountId: string;
}

export function isEnd(event: AuditEvent): event is EndEvent {
  return (
    (event.kind === 'token-revoked' || event.kind === 'program-ended') && event.accountId !== null
  );
}

/** The origin of a signal, for the events that it causes. */
export type SignalOrigin = Pick<AuditEvent, 'issuer' | 'signalTxn'>;

/** `at` is in Unix milliseconds. */
export interface StoredAuditEvent extends AuditEvent {
  readonly id: string;
  readonly at: number;
  /** The transaction that stored it, which security events of the same cause name; absent before. */
  readonly txn?: string;
}

export interface NamedAuditEvent extends StoredAuditEvent {
  /** Name of the account now, where one is known. */
  readonly accountName?: string;
}
