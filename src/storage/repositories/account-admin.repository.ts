import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, Not, type Repository } from 'typeorm';
import type { OperatorName, AuditKind } from '../../policy/audit-event.js';
import type { AccountMode, KeyMode } from '../../policy/operator-policy.js';
import type { KnownIdentity } from '../../policy/findings/policy-plan.js';
import { Database, type Query } from '../database.js';
import { AccountEntity } from '../entities/account.entity.js';
import { IdentityEntity } from '../entities/identity.entity.js';
import { removeAccount } from './account.repository.js';
import { insertAuditEvents } from './audit.repository.js';
import { endSessionsOf } from './session.repository.js';

/** An account as an administrator sees it. Times are Unix milliseconds. */
export interface AdministeredAccount {
  readonly id: string;
  readonly createdAt: number;
  readonly keyMode: KeyMode;
  readonly encryptionMode: AccountMode;
  readonly disabledAt: number | null;
  readonly identities: readonly AdministeredIdentity[];
}

export interface AdministeredIdentity extends KnownIdentity {
  readonly login: string | null;
  readonly connectedAt: number;
  readonly nextCheckAt: number | null;
}

/** @returns whether anything changed */
type Act = (query: Query, accountId: string, now: Date) => Promise<boolean>;

/** What an administrator does to an account; its audit event is stored in the same transaction. */
const ACTS = {
  'account-disabled': async (query, id, now) => {
    const still = { id, disabledAt: IsNull() };
    const { affected } = await query.manager.update(AccountEntity, still, { disabledAt: now });
    return affected === 1 && (await endSessionsOf(query, id));
  },
  'account-enabled': async ({ manager }, id) => {
    const still = { id, disabledAt: Not(IsNull()) };
    const { affected } = await manager.update(AccountEntity, still, { disabledAt: null });
    return affected === 1;
  },
  'all-tokens-revoked': endSessionsOf,
  'recheck-requested': async ({ manager }, accountId, now) => {
    await manager.update(IdentityEntity, { accountId }, { eligibilityNextCheckAt: now });
    return true;
  },
  'account-deleted': removeAccount,
} as const satisfies Partial<Record<AuditKind, Act>>;

export type AdminAct = keyof typeof ACTS;

/** `unchanged`: the account was in that state already, and no audit event was stored. */
export type ActOutcome = 'done' | 'unchanged' | 'not-found';

/** Who acts on an account, and why; the audit log keeps both. */
export interface ActOrigin {
  readonly actor: OperatorName;
  readonly reason: string;
}

/** What an operator reads and changes, beside a running server or without one. */
@Injectable()
export class AccountAdminRepository {
  constructor(
    private readonly database: Database,
    @InjectRepository(AccountEntity) private readonly accounts: Repository<AccountEntity>,
    @InjectRepository(IdentityEntity) private readonly identities: Repository<IdentityEntity>,
  ) {}

  async find(accountId: string): Promise<AdministeredAccount | null> {
    const account = await this.accounts.findOne({ select: SHOWN, where: { id: accountId } });
    const [found] = await this.withIdentities(account === null ? [] : [account]);
    return found ?? null;
  }

  /** The accounts with these ids, in their order; those that are gone are left out. */
  async inOrder(ids: readonly string[]): Promise<AdministeredAccount[]> {
    const accounts = await this.accounts.find({ select: SHOWN, where: { id: In([...ids]) } });
    const byId = new Map(accounts.map((account) => [account.id, account]));
    return this.withIdentities(ids.flatMap((id) => byId.get(id) ?? []));
  }

  /** The event is stored with the change, or neither is. */
  act(act: AdminAct, accountId: string, origin: ActOrigin, now: Date): Promise<ActOutcome> {
    return this.database.transaction(async (query) => {
      if (!(await query.manager.existsBy(AccountEntity, { id: accountId }))) {
        return 'not-found';
      }
      const hasChanged = await ACTS[act](query, accountId, now);
      if (hasChanged) {
        await insertAuditEvents(query, [{ kind: act, accountId, ...origin }], now);
      }
      return hasChanged ? 'done' : 'unchanged';
    });
  }

  private async withIdentities(accounts: readonly AccountEntity[]): Promise<AdministeredAccount[]> {
    const identities = await this.identities.find({
      where: { accountId: In(accounts.map(({ id }) => id)) },
      order: { provider: 'ASC' },
    });
    return accounts.map(({ id, createdAt, keyMode, encryptionMode, disabledAt }) => ({
      id,
      createdAt: createdAt.getTime(),
      keyMode,
      encryptionMode,
      disabledAt: disabledAt?.getTime() ?? null,
      identities: identities.filter(({ accountId }) => accountId === id).map(toAdministered),
    }));
  }
}

const SHOWN = {
  ...{ id: true, createdAt: true, keyMode: true },
  ...{ encryptionMode: true, disabledAt: true },
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
