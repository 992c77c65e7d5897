import { randomInt } from 'node:crypto';
import { userInfo } from 'node:os';
import { Cluster } from 'ioredis';
import { resolveSettings } from '../../../server/config/resolve-settings.js';
import {
  toOperatorName,
  type OperatorName,
  type StoredAuditEvent,
} from '../../../core/policy/audit-event.js';
import { explainAccount } from '../../../core/policy/findings/explain-account.js';
import { PlanTally, type PlanCounts } from '../../../core/policy/findings/plan-tally.js';
import {
  drawInvitationCode,
  invitationLink,
  showInvitationCode,
} from '../../../core/protocol/invitation-code.js';
import type {
  AdminAct,
  AdministeredAccount,
} from '../../../server/storage/repositories/account-admin.repository.js';
import type {
  AccountPage,
  AccountPosition,
} from '../../../server/storage/repositories/account-search.repository.js';
import type {
  AuditPage,
  AuditPosition,
} from '../../../server/storage/repositories/audit.repository.js';
import type {
  InvitationPage,
  InvitationPosition,
  ListedInvitation,
} from '../../../server/storage/repositories/invitation.repository.js';
import { isUuid } from '../../../common/uuid.js';
import { usageError } from '../cli-error.js';
import type { CliContext } from '../command.js';
import {
  accountNotFound,
  type ActReport,
  type Administration,
  type EndedRefusal,
  type ExplainedAnswer,
  invitationNotFound,
  type MadeInvitation,
  providerNotFound,
  type ShownEvents,
  type WantedInvitation,
} from './administration.js';
import type { OperatorDatabase } from './database.js';
import type { Settings } from '../../../server/config/settings.js';
import { createClient, type RedisClient } from '../../../server/storage/redis/redis-client.js';
import { operatorChannel } from '../../../server/storage/redis/redis-probe.js';

const PAGE = 500;

const MESSAGES: Readonly<Record<AdminAct, (accountId: string) => OperatorMessage>> = {
  'account-disabled': (accountId) => ({ accountId, closes: 'account-disabled' }),
  'account-enabled': (accountId) => ({ accountId }),
  'all-tokens-revoked': (accountId) => ({ accountId, closes: 'token-revoked' }),
  'recheck-requested': () => ({ isDue: true }),
  'account-deleted': (accountId) => ({ accountId, closes: 'token-revoked' }),
};

export class DatabaseAdministration implements Administration {
  constructor(private readonly storage: OperatorDatabase) {}

  async *accounts(text: string | null, limit: number): AsyncGenerator<AdministeredAccount> {
    const { accounts, search } = this.storage;
    if (text !== null && isUuid(text)) {
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
    const { outcome } = isUuid(id)
      ? await accounts.act(act, id, origin, new Date())
      : { outcome: 'not-found' as const };
    if (outcome === 'not-found') {
      throw accountNotFound(id);
    }
    return { outcome, actor: name, servers: await notifyServers(settings, MESSAGES[act](id)) };
  }

  async explain(id: string): Promise<ExplainedAnswer> {
    const account = isUuid(id) ? await this.storage.accounts.find(id) : null;
    if (account === null) {
      throw accountNotFound(id);
    }
    const { keyMode, disabledAt } = account;
    const explanation = explainAccount(this.storage.settings, account, Date.now());
    return { keyMode, disabledAt, explanation };
  }

  async *audit(filter: ShownEvents): AsyncGenerator<StoredAuditEvent> {
    let after: AuditPosition | null = null;
    do {
      const page: AuditPage = await this.storage.audit.page(filter, after, {
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
    let after: string | null = null;
    do {
      const page: AccountPage = await this.storage.search.inIdOrder(after, PAGE);
      page.accounts.forEach((account) => tally.add(account));
      after = page.next?.id ?? null;
    } while (after !== null);
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
    const by = { actor: operatorName(actor) };
    const id = await invitations.create(code, wanted, by, new Date(now));
    const formatted = showInvitationCode(code);
    return { id, code: formatted, link: invitationLink(settings.http, formatted) };
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
    const outcome = isUuid(id)
      ? await this.storage.invitations.revoke(id, by, new Date())
      : 'not-found';
    if (outcome === 'not-found') {
      throw invitationNotFound(id);
    }
    return outcome === 'done';
  }

  async endRefusal(
    id: string,
    name: string,
    named: string | undefined,
    reason: string,
  ): Promise<EndedRefusal> {
    const actor = operatorName(named);
    const { settings, refusals } = this.storage;
    const provider = settings.providers.find((one) => one.id === id);
    if (provider === undefined) {
      throw providerNotFound(id);
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
