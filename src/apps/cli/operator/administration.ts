import { readUuid } from '../../../common/uuid.js';
import type { NamedAuditEvent } from '../../../core/policy/audit-event.js';
import type { AccountExplanation } from '../../../core/policy/findings/explain-account.js';
import type { PlanCounts } from '../../../core/policy/findings/plan-tally.js';
import type { Statement } from '../../../core/policy/messages/statement.js';
import type {
  AdminInvitation,
  CreatedInvitation,
} from '../../../packages/client/api/admin-client.js';
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

/** Operations of the operator's commands, on the database or through a server, by one actor. */
export interface Administration {
  /** @param text an id, or a prefix of a login, an e-mail address or a certificate subject */
  accounts(text: string | null, limit: number): AsyncIterable<ShownAccount>;

  /** @throws CliError `not-found` */
  act(act: AdminAct, id: string, reason: string): Promise<ActReport>;

  /** @throws CliError `not-found` */
  explain(id: string): Promise<ExplainedAnswer>;

  /** Oldest first. */
  audit(filter: ShownEvents): AsyncIterable<NamedAuditEvent>;

  /** @param changes the variables that would change; the others stay as they are */
  plan(changes: CliContext['environment']): Promise<PlanReport>;

  createInvitation(wanted: WantedInvitation): Promise<CreatedInvitation>;

  /** Newest first. */
  invitations(): AsyncIterable<AdminInvitation>;

  /** @returns true if it was not revoked before @throws CliError `not-found` */
  revokeInvitation(id: string, reason: string): Promise<boolean>;

  /** @throws CliError `not-found` for an unknown provider */
  endRefusal(provider: string, name: string, reason: string): Promise<EndedRefusal>;
}

export interface PlanReport extends PlanCounts {
  readonly total: number;
  /** True if only a random sample of the accounts was judged. */
  readonly isSample: boolean;
  /** Names of the accounts in `losing` and `gaining` by id, where one is known. */
  readonly names: Readonly<Record<string, string>>;
  /** The policy in force, and the changed one. */
  readonly present: readonly Statement[];
  readonly planned: readonly Statement[];
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

export interface ExplainedAnswer {
  readonly keyMode: string;
  readonly disabledAt: number | null;
  readonly explanation: AccountExplanation;
}

const LISTED_BY = {
  account: 'gatehouse account list',
  invitation: 'gatehouse invite list',
  provider: 'gatehouse doctor signals',
} as const;

export function notFound(kind: keyof typeof LISTED_BY, id: string): CliError {
  return refusedError(`There is no ${kind} ${id}.`, 'not-found', `Run: ${LISTED_BY[kind]}`);
}

/** @returns the id as servers compare it @throws CliError `not-found` */
export function requireUuid(kind: 'account' | 'invitation', id: string): string {
  const uuid = readUuid(id);
  if (uuid === null) {
    throw notFound(kind, id);
  }
  return uuid;
}

/** @param read reads one page; its `next` is null on the last one */
export async function* paged<Row, Position>(
  pageSize: number,
  limit: number,
  read: (
    after: Position | null,
    limit: number,
  ) => Promise<{ readonly rows: readonly Row[]; readonly next: Position | null }>,
): AsyncGenerator<Row> {
  let after: Position | null = null;
  let left = limit;
  do {
    const page: Awaited<ReturnType<typeof read>> = await read(after, Math.min(left, pageSize));
    yield* page.rows;
    left -= page.rows.length;
    after = page.next;
  } while (after !== null && left > 0);
}
