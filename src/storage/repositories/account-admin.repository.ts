import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, MoreThan, type Repository } from 'typeorm';
import type { OperatorName, AuditKind } from '../../policy/audit-event.js';
import type { KnownIdentity } from '../../policy/findings/policy-plan.js';
import { Database, type Query } from '../database.js';
import { AccountEntity } from '../entities/account.entity.js';
import { IdentityEntity } from '../entities/identity.entity.js';
import { insertAuditEvents } from './audit.repository.js';
import { endSessionsOf } from './session.repository.js';

/** An account as an administrator sees it. Times are Unix milliseconds. */
export interface AdministeredAccount {
  readonly id: string;
  readonly createdAt: number;
  readonly keyMode: string;
  readonly disabledAt: number | null;
  readonly identities: readonly AdministeredIdentity[];
}

export interface AdministeredIdentity extends KnownIdentity {
  readonly login: string | null;
  readonly nextCheckAt: number | null;
}

type Act = (query: Query, accountId: string, now: Date) => Promise<unknown>;

/** What an administrator does to an account; its audit event is stored in the same transaction. */
const ACTS = {
  'account-disabled': async (query, id, now) => {
    await endSessionsOf(query, id);
    await query.manager.update(AccountEntity, { id, disabledAt: IsNull() }, { disabledAt: now });
  },
  'account-enabled': ({ manager }, id) =>
    manager.update(AccountEntity, { id }, { disabledAt: null }),
  'all-tokens-revoked': endSessionsOf,
  'recheck-requested': ({ manager }, accountId, now) =>
    manager.update(IdentityEntity, { accountId }, { eligibilityNextCheckAt: now }),
} as const satisfies Partial<Record<AuditKind, Act>>;

export type AdminAct = keyof typeof ACTS;

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

  /** @param afterId the last id of the page before; null for the first page */
  async page(afterId: string | null, limit: number): Promise<AdministeredAccount[]> {
    const accounts = await this.accounts.find({
      select: SHOWN,
      where: afterId === null ? {} : { id: MoreThan(afterId) },
      order: { id: 'ASC' },
      take: limit,
    });
    return this.withIdentities(accounts);
  }

  /** @returns false when there is no such account; then nothing is stored */
  act(act: AdminAct, accountId: string, origin: ActOrigin, now: Date): Promise<boolean> {
    return this.database.transaction(async (query) => {
      const isThere = await query.manager.existsBy(AccountEntity, { id: accountId });
      if (isThere) {
        await ACTS[act](query, accountId, now);
        await insertAuditEvents(query, [{ kind: act, accountId, ...origin }], now);
      }
      return isThere;
    });
  }

  private async withIdentities(accounts: readonly AccountEntity[]): Promise<AdministeredAccount[]> {
    const identities = await this.identities.find({
      where: { accountId: In(accounts.map(({ id }) => id)) },
      order: { provider: 'ASC' },
    });
    return accounts.map(({ id, createdAt, keyMode, disabledAt }) => ({
      id,
      createdAt: createdAt.getTime(),
      keyMode,
      disabledAt: disabledAt?.getTime() ?? null,
      identities: identities.filter(({ accountId }) => accountId === id).map(toAdministered),
    }));
  }
}

const SHOWN = { id: true, createdAt: true, keyMode: true, disabledAt: true } as const;

function toAdministered(identity: IdentityEntity): AdministeredIdentity {
  return {
    provider: identity.provider,
    subject: identity.subject,
    login: identity.login,
    status: identity.eligibilityStatus,
    reason: identity.eligibilityReason,
    checkedAt: identity.eligibilityCheckedAt?.getTime() ?? null,
    nextCheckAt: identity.eligibilityNextCheckAt?.getTime() ?? null,
    failures: identity.consecutiveFailures,
    facts: identity.facts,
  };
}
