import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, Not, type Repository } from 'typeorm';
import type {
  AuditEvent,
  AuditKind,
  NamedAuditEvent,
  OperatorName,
  StoredAuditEvent,
} from '../../../core/policy/audit-event.js';
import type { KnownIdentity } from '../../../core/policy/findings/policy-plan.js';
import { DatabaseService, type Transaction } from '../database.service.js';
import { AccountEntity } from '../entities/account.entity.js';
import { IdentityEntity } from '../entities/identity.entity.js';
import { lockIdentitiesOf } from '../account-row.js';
import { removeAccount } from './account.repository.js';
import { insertAuditEvents } from './audit.repository.js';
import { clearRefusals, signalsOfAccounts } from './directory/identity-signal.repository.js';
import { endSessionsOf } from './session-end.repository.js';
import { inMilliseconds, type InMilliseconds } from '../milliseconds.js';

export interface AdministeredAccount extends InMilliseconds<
  Pick<AccountEntity, keyof typeof SHOWN>
> {
  readonly identities: readonly AdministeredIdentity[];
}

export interface AdministeredIdentity extends KnownIdentity {
  readonly login: string | null;
  readonly connectedAt: number;
  readonly nextCheckAt: number | null;
}

/** @returns further audit events that it stored; null when nothing changed */
type Act = (
  tx: Transaction,
  accountId: string,
  origin: ActOrigin,
  now: Date,
) => Promise<readonly AuditEvent[] | null>;

const ACTS = {
  'account-disabled': async (tx, id, origin, now) => {
    const still = { id, disabledAt: IsNull() };
    const { affected } = await tx.manager.update(AccountEntity, still, { disabledAt: now });
    return affected === 1 ? endSessionsOf(tx, id, origin, now) : null;
  },
  'account-enabled': async (tx, id) => {
    const hasCleared = await clearRefusals(tx, id);
    const still = { id, disabledAt: Not(IsNull()) };
    const { affected } = await tx.manager.update(AccountEntity, still, { disabledAt: null });
    return affected === 1 || hasCleared ? [] : null;
  },
  'all-tokens-revoked': endSessionsOf,
  'recheck-requested': async (tx, accountId, _origin, now) => {
    await lockIdentitiesOf(tx, accountId);
    const due = { eligibilityNextCheckAt: now };
    const { affected } = await tx.manager.update(IdentityEntity, { accountId }, due);
    return affected === 0 ? null : [];
  },
  'account-deleted': async (tx, accountId, _origin, now) =>
    (await removeAccount(tx, accountId, now)) ? [] : null,
} as const satisfies Partial<Record<AuditKind, Act>>;

export type AdminAct = keyof typeof ACTS;

/** `unchanged`: the account already had that state, and no audit event was stored. */
export type ActOutcome = 'done' | 'unchanged' | 'not-found';

interface ActResult {
  readonly outcome: ActOutcome;
  readonly events: readonly AuditEvent[];
}

/** The operator who acts on an account, and why; the audit log keeps it. */
export interface ActOrigin {
  readonly actor: OperatorName;
  readonly reason: string;
  /** Address of the operator's client; absent = the operator worked on the database. */
  readonly address?: string;
}

@Injectable()
export class AccountAdminRepository {
  constructor(
    private readonly database: DatabaseService,
    @InjectRepository(AccountEntity) private readonly accounts: Repository<AccountEntity>,
    @InjectRepository(IdentityEntity) private readonly identities: Repository<IdentityEntity>,
  ) {}

  async find(accountId: string): Promise<AdministeredAccount | null> {
    const account = await this.accounts.findOne({ select: SHOWN, where: { id: accountId } });
    const [found] = await this.withIdentities(account === null ? [] : [account]);
    return found ?? null;
  }

  /** Returns the accounts with these ids, in their order, without deleted ones. */
  async inOrder(ids: readonly string[]): Promise<AdministeredAccount[]> {
    const accounts = await this.accounts.find({ select: SHOWN, where: { id: In([...ids]) } });
    const byId = new Map(accounts.map((account) => [account.id, account]));
    return this.withIdentities(ids.flatMap((id) => byId.get(id) ?? []));
  }

  /** Returns the names of these accounts by id: an e-mail address or a login, where one is known. */
  async namesOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (ids.length === 0) {
      return new Map();
    }
    const rows = await this.database.query<{ readonly id: string; readonly name: string }>(
      `SELECT DISTINCT ON ("account_id") "account_id" AS "id",
         COALESCE("facts" ->> 'email', "login") AS "name"
       FROM "identity"
       WHERE "account_id" = ANY($1) AND COALESCE("facts" ->> 'email', "login") IS NOT NULL
       ORDER BY "account_id", "provider"`,
      [ids],
    );
    return new Map(rows.map(({ id, name }) => [id, name]));
  }

  /** Adds the names of the accounts to events, as {@link namesOf}. */
  async withNames(events: readonly StoredAuditEvent[]): Promise<NamedAuditEvent[]> {
    const ids = new Set(events.flatMap(({ accountId }) => accountId ?? []));
    const names = await this.namesOf([...ids]);
    return events.map((event) => {
      const accountName = names.get(event.accountId ?? '');
      return accountName === undefined ? event : { ...event, accountName };
    });
  }

  /** The events are stored with the change, or neither is. */
  act(act: AdminAct, accountId: string, origin: ActOrigin, now: Date): Promise<ActResult> {
    return this.database.transaction(async (tx) => {
      if (!(await tx.manager.existsBy(AccountEntity, { id: accountId }))) {
        return { outcome: 'not-found', events: [] };
      }
      const further = await ACTS[act](tx, accountId, origin, now);
      if (further === null) {
        return { outcome: 'unchanged', events: [] };
      }
      const event: AuditEvent = { kind: act, accountId, ...origin };
      await insertAuditEvents(tx, [event], now);
      return { outcome: 'done', events: [event, ...further] };
    });
  }

  private async withIdentities(accounts: readonly AccountEntity[]): Promise<AdministeredAccount[]> {
    const identities = await this.identities.find({
      where: { accountId: In(accounts.map(({ id }) => id)) },
      order: { provider: 'ASC' },
    });
    const signals = await signalsOfAccounts(
      this.database,
      accounts.map(({ id }) => id),
    );
    return accounts.map((account) => ({
      ...inMilliseconds(account),
      identities: identities
        .filter(({ accountId }) => accountId === account.id)
        .map((identity) => ({ ...toAdministered(identity), ...signals.get(identity.id) })),
    }));
  }
}

const SHOWN = {
  id: true,
  createdAt: true,
  keyMode: true,
  encryptionMode: true,
  disabledAt: true,
} as const;

function toAdministered(identity: IdentityEntity): AdministeredIdentity {
  return {
    provider: identity.provider,
    subject: identity.subject,
    login: identity.login,
    connectedAt: identity.connectedAt.getTime(),
    status: identity.eligibilityStatus,
    reason: identity.eligibilityReason,
    checkedAt: identity.eligibilityCheckedAt?.getTime() ?? null,
    nextCheckAt: identity.eligibilityNextCheckAt?.getTime() ?? null,
    failures: identity.consecutiveFailures,
    facts: identity.facts,
    certificate: identity.certificate,
  };
}
