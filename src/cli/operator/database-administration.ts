import { randomInt } from 'node:crypto';
import { userInfo } from 'node:os';
import { resolveSettings } from '../../config/resolve-settings.js';
import {
  toOperatorName,
  type OperatorName,
  type StoredAuditEvent,
} from '../../policy/audit-event.js';
import { explainAccount } from '../../policy/findings/explain-account.js';
import {
  drawInvitationCode,
  invitationLink,
  showInvitationCode,
} from '../../policy/flow/invitation-code.js';
import { PlanTally, type PlanCounts } from '../../policy/findings/plan-tally.js';
import type {
  AdminAct,
  AdministeredAccount,
} from '../../storage/repositories/account-admin.repository.js';
import type {
  AccountPage,
  AccountPosition,
} from '../../storage/repositories/account-search.repository.js';
import type { AuditPage, AuditPosition } from '../../storage/repositories/audit.repository.js';
import type {
  InvitationPage,
  InvitationPosition,
  ListedInvitation,
} from '../../storage/repositories/invitation.repository.js';
import { usageError } from '../cli-error.js';
import type { CliContext } from '../command.js';
import {
  ACCOUNT_ID,
  accountNotFound,
  type ActReport,
  type Administration,
  type ExplainedAnswer,
  invitationNotFound,
  type MadeInvitation,
  type WantedInvitation,
} from './administration.js';
import type { OperatorDatabase } from './database.js';
import { notifyServers, type OperatorMessage } from './notify-servers.js';

const PAGE = 500;

const MESSAGES: Readonly<Record<AdminAct, (accountId: string) => OperatorMessage>> = {
  'account-disabled': (accountId) => ({ accountId, closes: 'account-disabled' }),
  'account-enabled': (accountId) => ({ accountId }),
  'all-tokens-revoked': (accountId) => ({ accountId, closes: 'token-revoked' }),
  'recheck-requested': () => ({ isDue: true }),
  'account-deleted': (accountId) => ({ accountId, closes: 'token-revoked' }),
};

/** The operator's commands on the database, beside running servers or without any. */
export class DatabaseAdministration implements Administration {
  constructor(private readonly storage: OperatorDatabase) {}

  async *accounts(text: string | null, limit: number): AsyncGenerator<AdministeredAccount> {
    const { accounts, search } = this.storage;
    if (text !== null && ACCOUNT_ID.test(text)) {
      yield* await accounts.inOrder([text]);
      return;
    }
    const filter = text === null ? {} : { text };
    let after: AccountPosition | null = null;
    let left = limit;
    do {
      const page: AccountPage = await search.page(filter, after, Math.min(left, PAGE));
      yield* page.accounts;
      left -= page.accounts.length;
      after = page.next;
    } while (after !== null && left > 0);
  }

  async act(
    act: AdminAct,
    id: string,
    actor: string | undefined,
    reason: string,
  ): Promise<ActReport> {
    const name = operatorName(actor);
    const { accounts, settings } = this.storage;
    const origin = { actor: name, reason };
    const outcome = ACCOUNT_ID.test(id)
      ? await accounts.act(act, id, origin, new Date())
      : 'not-found';
    if (outcome === 'not-found') {
      throw accountNotFound(id);
    }
    return { outcome, actor: name, servers: await notifyServers(settings, MESSAGES[act](id)) };
  }

  async explain(id: string): Promise<ExplainedAnswer> {
    const account = ACCOUNT_ID.test(id) ? await this.storage.accounts.find(id) : null;
    if (account === null) {
      throw accountNotFound(id);
    }
    const { keyMode, disabledAt } = account;
    const explanation = explainAccount(this.storage.settings, account, Date.now());
    return { keyMode, disabledAt, explanation };
  }

  async *audit(since: number): AsyncGenerator<StoredAuditEvent> {
    let after: AuditPosition | null = null;
    do {
      const page: AuditPage = await this.storage.audit.page({ since }, after, {
        order: 'oldest-first',
        limit: PAGE,
      });
      yield* page.events;
      after = page.next;
    } while (after !== null);
  }

  async plan(environment: CliContext['environment']): Promise<PlanCounts> {
    const { settings: changed } = resolveSettings(environment);
    const tally = new PlanTally(this.storage.settings, changed, Date.now());
    for await (const account of this.accounts(null, Infinity)) {
      tally.add(account);
    }
    return tally.counts;
  }

  async createInvitation(
    { uses, expiresInSeconds, note }: WantedInvitation,
    actor: string | undefined,
  ): Promise<MadeInvitation> {
    const code = drawInvitationCode((bound) => randomInt(bound));
    const now = Date.now();
    const wanted = { uses, note, expiresAt: new Date(now + expiresInSeconds * 1000) };
    const { invitations, settings } = this.storage;
    const id = await invitations.create(code, wanted, operatorName(actor), new Date(now));
    const shown = showInvitationCode(code);
    return { id, code: shown, link: invitationLink(settings.http, shown) };
  }

  async *invitations(): AsyncGenerator<ListedInvitation> {
    let after: InvitationPosition | null = null;
    do {
      const page: InvitationPage = await this.storage.invitations.page(after, PAGE);
      yield* page.invitations;
      after = page.next;
    } while (after !== null);
  }

  async revokeInvitation(id: string, actor: string | undefined, reason: string): Promise<boolean> {
    const by = { actor: operatorName(actor), reason };
    const outcome = ACCOUNT_ID.test(id)
      ? await this.storage.invitations.revoke(id, by, new Date())
      : 'not-found';
    if (outcome === 'not-found') {
      throw invitationNotFound(id);
    }
    return outcome === 'done';
  }
}

/**
 * The operator's name in the audit trail: `--actor`, by default the system's user.
 *
 * @throws CliError `usage` (exit code 2) for an invalid name
 */
function operatorName(actor: string | undefined): OperatorName {
  const text = actor ?? systemUser();
  const name = text === null ? null : toOperatorName(text);
  if (name === null) {
    throw usageError(
      actor === undefined
        ? "This system's user has no name that is valid in the audit trail: give one with --actor."
        : '--actor must be 1 to 64 printable characters, and not user, system or provider.',
    );
  }
  return name;
}

/** null where the user id has no entry, as in a container that runs with an arbitrary one. */
function systemUser(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}
