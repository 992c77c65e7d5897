import { randomInt } from 'node:crypto';
import { userInfo } from 'node:os';
import { Cluster } from 'ioredis';
import { resolveSettings } from '../../../server/config/resolve-settings.js';
import {
  toOperatorName,
  type OperatorName,
  type NamedAuditEvent,
} from '../../../core/policy/audit-event.js';
import { explainAccount } from '../../../core/policy/findings/explain-account.js';
import { acceptsPrograms } from '../../../core/policy/programs/programs.js';
import { policyStatements } from '../../../core/policy/findings/describe-policy.js';
import { PlanTally } from '../../../core/policy/findings/plan-tally.js';
import {
  drawInvitationCode,
  invitationLink,
  showInvitationCode,
} from '../../../core/protocol/invitation-code.js';
import type { CreatedInvitation } from '../../../packages/client/api/admin-client.js';
import type { Settings } from '../../../server/config/settings.js';
import { createClient, type RedisClient } from '../../../server/storage/redis/redis-client.js';
import { operatorChannel } from '../../../server/storage/redis/redis-probe.js';
import type {
  AdminAct,
  AdministeredAccount,
} from '../../../server/storage/repositories/account-admin.repository.js';
import {
  byIdOrName,
  type AccountPosition,
} from '../../../server/storage/repositories/account-search.repository.js';
import type { AuditPosition } from '../../../server/storage/repositories/audit.repository.js';
import type {
  InvitationPosition,
  ListedInvitation,
} from '../../../server/storage/repositories/invitation.repository.js';
import { refusedError, usageError } from '../cli-error.js';
import type { CliContext } from '../command.js';
import {
  notFound,
  paged,
  requireUuid,
  type ActReport,
  type Administration,
  type EndedRefusal,
  type ExplainedAnswer,
  type PlanReport,
  type ShownEvents,
  type WantedInvitation,
} from './administration.js';
import type { OperatorDatabase } from './database.js';
import { withChanges } from './plan-variables.js';

const PAGE = 500;

const MESSAGES: Readonly<Record<AdminAct, (accountId: string) => OperatorMessage>> = {
  'account-disabled': (accountId) => ({ accountId, closes: 'account-disabled' }),
  'account-enabled': (accountId) => ({ accountId }),
  'all-tokens-revoked': (accountId) => ({ accountId, closes: 'token-revoked' }),
  'recheck-requested': () => ({ isDue: true }),
  'account-deleted': (accountId) => ({ accountId, closes: 'token-revoked' }),
};

export class DatabaseAdministration implements Administration {
  /** Named by `--actor`; undefined = this system's user. */
  private readonly actor: string | undefined;

  constructor(
    private readonly storage: OperatorDatabase,
    private readonly context: CliContext<{ readonly actor?: string }>,
  ) {
    this.actor = context.options.actor;
  }

  accounts(text: string | null, limit: number): AsyncGenerator<AdministeredAccount> {
    const { search } = this.storage;
    const filter = text === null ? {} : byIdOrName(text);
    return paged(PAGE, limit, async (after: AccountPosition | null, count) => {
      const { accounts: rows, next } = await search.page(filter, after, count);
      return { rows, next };
    });
  }

  async act(act: AdminAct, accountId: string, reason: string): Promise<ActReport> {
    const actor = operatorName(this.actor);
    const id = requireUuid('account', accountId);
    const { accounts, settings } = this.storage;
    if (act === 'recheck-requested' && !settings.auth.offboarding.enabled) {
      throw refusedError(
        'AUTH_OFFBOARDING_ENABLED is off: nothing is checked again.',
        'no-rechecks',
      );
    }
    const { outcome } = await accounts.act(act, id, { actor, reason }, new Date());
    if (outcome === 'not-found') {
      throw notFound('account', id);
    }
    return { outcome, actor, servers: await notifyServers(settings, MESSAGES[act](id)) };
  }

  async explain(accountId: string): Promise<ExplainedAnswer> {
    const id = requireUuid('account', accountId);
    const account = await this.storage.accounts.find(id);
    if (account === null) {
      throw notFound('account', id);
    }
    const { keyMode, disabledAt } = account;
    const { settings, grants } = this.storage;
    const now = Date.now();
    const programs = acceptsPrograms(settings.resourceServers) && {
      grants: await grants.list(id, new Date(now)),
    };
    const explanation = explainAccount(settings, { ...account, ...programs }, now);
    return { keyMode, disabledAt, explanation };
  }

  audit(filter: ShownEvents): AsyncGenerator<NamedAuditEvent> {
    return paged(PAGE, Infinity, async (after: AuditPosition | null, limit) => {
      const page = { order: 'oldest-first', limit } as const;
      const { events, next } = await this.storage.audit.page(filter, after, page);
      return { rows: await this.storage.accounts.withNames(events), next };
    });
  }

  async plan(changes: CliContext['environment']): Promise<PlanReport> {
    const { settings: changed } = resolveSettings(withChanges(this.context.environment, changes));
    const { settings, search, accounts } = this.storage;
    const tally = new PlanTally(settings, changed, Date.now());
    const judged = paged(PAGE, Infinity, async (after: AccountPosition | null, limit) => {
      const { accounts: rows, next } = await search.inIdOrder(after?.id ?? null, limit);
      return { rows, next };
    });
    for await (const account of judged) {
      tally.add(account);
    }
    const { counts } = tally;
    const examples = [...counts.losing, ...counts.gaining];
    return {
      ...counts,
      total: counts.accounts,
      isSample: false,
      names: Object.fromEntries(await accounts.namesOf(examples)),
      present: policyStatements(settings),
      planned: policyStatements(changed),
    };
  }

  async createInvitation({
    uses,
    expiresInSeconds,
    note,
  }: WantedInvitation): Promise<CreatedInvitation> {
    const code = drawInvitationCode((bound) => randomInt(bound));
    const now = Date.now();
    const wanted = { uses, note, expiresAt: new Date(now + expiresInSeconds * 1000) };
    const { invitations, settings } = this.storage;
    const by = { actor: operatorName(this.actor) };
    const { id } = await invitations.create(code, wanted, by, new Date(now));
    const formatted = showInvitationCode(code);
    const link = invitationLink(settings.http, formatted);
    return { id, code: formatted, link, areAccepted: settings.auth.signupInvitationsEnabled };
  }

  invitations(): AsyncGenerator<ListedInvitation> {
    return paged(PAGE, Infinity, async (after: InvitationPosition | null, limit) => {
      const { invitations: rows, next } = await this.storage.invitations.page(after, limit);
      return { rows, next };
    });
  }

  async revokeInvitation(id: string, reason: string): Promise<boolean> {
    const by = { actor: operatorName(this.actor), reason };
    requireUuid('invitation', id);
    const revoked = await this.storage.invitations.revoke(id, by, new Date());
    if (revoked === 'not-found') {
      throw notFound('invitation', id);
    }
    return revoked !== 'unchanged';
  }

  async endRefusal(id: string, name: string, reason: string): Promise<EndedRefusal> {
    const actor = operatorName(this.actor);
    const { settings, refusals } = this.storage;
    const provider = settings.providers.find((one) => one.id === id);
    if (provider === undefined) {
      throw notFound('provider', id);
    }
    const match = provider.type === 'oidc' ? (provider.scim?.match ?? null) : null;
    const person = { provider: id, match, name };
    const events = await refusals.end(person, { actor, reason }, new Date());
    return { changed: events.length > 0, actor };
  }
}

/** @throws CliError `usage` (exit code 2) for an invalid name */
export function operatorName(actor: string | undefined): OperatorName {
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

/** Returns null where the user id has no entry, as in a container with an arbitrary user id. */
function systemUser(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}

type OperatorMessage =
  | { readonly accountId: string; readonly closes?: 'account-disabled' | 'token-revoked' }
  | { readonly isDue: true }
  | { readonly areKeysRotated: true };

function laterOf(settings: Settings, message: OperatorMessage): string {
  if ('isDue' in message) {
    return 'they look for due identities every few seconds.';
  }
  return 'areKeysRotated' in message
    ? 'they read the keys every five seconds.'
    : `requests and live connections are checked again within ${settings.auth.accessCacheMs / 1000} seconds (AUTH_ACCESS_CACHE_SECONDS).`;
}

/** @returns a sentence that states when the change takes effect */
export async function notifyServers(settings: Settings, message: OperatorMessage): Promise<string> {
  const later = laterOf(settings, message);
  const { redisUrl } = settings.storage;
  if (redisUrl === null) {
    return `Without REDIS_URL running servers are not notified: ${later}`;
  }
  const redis = createClient(
    { ...settings.storage, redisUrl },
    { maxRetriesPerRequest: 0 },
    { clusterRetryStrategy: null },
  );
  redis.on('error', () => undefined);
  try {
    // Redis counts connections: a server that has just reconnected may have two for a moment.
    const count = await publish(redis, JSON.stringify(message));
    return count === 0
      ? 'No running server is connected to Redis.'
      : `Running servers were notified (${count}): it takes effect now.`;
  } catch {
    return `Redis does not answer, so running servers were not notified: ${later}`;
  } finally {
    redis.disconnect();
  }
}

/** @returns the number of listening servers. A node of a cluster counts only its own listeners. */
async function publish(redis: RedisClient, message: string): Promise<number> {
  const channel = operatorChannel(redis);
  const count = await redis.publish(channel, message);
  if (!(redis instanceof Cluster)) {
    return count;
  }
  const counts = await Promise.allSettled(
    redis.nodes().map(async (node) => Number((await node.pubsub('NUMSUB', channel))[1])),
  );
  return counts.reduce((sum, one) => sum + (one.status === 'fulfilled' ? one.value : 0), 0);
}
