import type { StoredAuditEvent } from '../../../core/policy/audit-event.js';
import type { AccountExplanation } from '../../../core/policy/findings/explain-account.js';
import type { PlanCounts } from '../../../core/policy/findings/plan-tally.js';
import type {
  ActOutcome,
  AdminAct,
} from '../../../server/storage/repositories/account-admin.repository.js';
import { refusedError, type CliError } from '../cli-error.js';
import type { CliContext } from '../command.js';

export interface ShownAccount {
  readonly id: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly keyMode: string;
  /** Unix milliseconds; null = it is not disabled. */
  readonly disabledAt: number | null;
  readonly identities: readonly {
    readonly provider: string;
    readonly login: string | null;
    readonly status: string;
  }[];
}

export interface ActReport {
  readonly outcome: Exclude<ActOutcome, 'not-found'>;
  readonly actor: string;
  readonly servers: string;
}

/** Operations of the operator's commands, on the database or through a server. */
export interface Administration {
  /** @param text an id, or a prefix of a login, an e-mail address or a certificate subject */
  accounts(text: string | null, limit: number): AsyncIterable<ShownAccount>;

  /**
   * @param actor undefined = this system's user, or the name of the token
   * @throws CliError `not-found`
   */
  act(act: AdminAct, id: string, actor: string | undefined, reason: string): Promise<ActReport>;

  /** @throws CliError `not-found` */
  explain(id: string): Promise<ExplainedAnswer>;

  /** Oldest first. */
  audit(filter: ShownEvents): AsyncIterable<StoredAuditEvent>;

  plan(environment: CliContext['environment']): Promise<PlanCounts>;

  createInvitation(wanted: WantedInvitation, actor: string | undefined): Promise<MadeInvitation>;

  /** Newest first. */
  invitations(): AsyncIterable<ShownInvitation>;

  /** @returns true if it was not revoked before @throws CliError `not-found` */
  revokeInvitation(id: string, actor: string | undefined, reason: string): Promise<boolean>;

  /** @throws CliError `not-found` for an unknown provider */
  endRefusal(
    provider: string,
    name: string,
    actor: string | undefined,
    reason: string,
  ): Promise<EndedRefusal>;
}

export interface EndedRefusal {
  /** False: nothing refused a person without an account by this name. */
  readonly changed: boolean;
  readonly actor: string;
}

export interface ShownEvents {
  /** Unix milliseconds. */
  readonly since: number;
  /** The beginning of a login, an e-mail address or a subject; undefined = all events. */
  readonly person?: string | undefined;
}

export interface WantedInvitation {
  readonly uses: number;
  readonly expiresInSeconds: number;
  readonly note: string | null;
}

export interface MadeInvitation {
  readonly id: string;
  readonly code: string;
  /** null = the address of the account page is unknown. */
  readonly link: string | null;
}

/** Times are Unix milliseconds. */
export interface ShownInvitation {
  readonly id: string;
  readonly note: string | null;
  readonly uses: number;
  readonly used: number;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** null = not revoked. */
  readonly revokedAt: number | null;
}

export interface ExplainedAnswer {
  readonly keyMode: string;
  readonly disabledAt: number | null;
  readonly explanation: AccountExplanation;
}

export function accountNotFound(id: string): CliError {
  return refusedError(`There is no account ${id}.`, 'not-found', 'Run: gatehouse account list');
}

export function invitationNotFound(id: string): CliError {
  return refusedError(`There is no invitation ${id}.`, 'not-found', 'Run: gatehouse invite list');
}

export function providerNotFound(id: string): CliError {
  return refusedError(`There is no provider ${id}.`, 'not-found', 'Run: gatehouse doctor signals');
}
