import type { ActorKind, OperatorName } from './audit-actor.js';

/** Everything the audit trail can say that happened. */
export type AuditKind =
  | 'signed-up'
  | 'logged-in'
  | 'login-refused'
  | 'identity-linked'
  | 'identity-unlinked'
  | 'eligibility-lost'
  | 'eligibility-regained'
  | 'token-revoked'
  | 'all-tokens-revoked'
  | 'device-approved'
  | 'device-refused'
  | 'recheck-requested'
  | 'account-disabled'
  | 'account-enabled'
  | 'account-deleted';

/** Something that happened to an account. Never holds a token, a secret or a person's name. */
export interface AuditEvent {
  readonly kind: AuditKind;
  /** A kind, or the name of the operator; before names were kept, `admin` stood for every operator. */
  readonly actor: ActorKind | OperatorName;
  readonly accountId: string | null;
  readonly provider?: string;
  /** An error code, an eligibility reason, or the words an administrator gave. */
  readonly reason?: string;
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
