import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository } from 'typeorm';
import type { AuditEvent } from '../../policy/audit-event.js';
import type { Eligibility } from '../../policy/eligibility/eligibility.js';
import type { AccountMode, KeyMode } from '../../policy/operator-policy.js';
import { Database, type Query } from '../database.js';
import { AccountEntity } from '../entities/account.entity.js';
import { IdentityEntity } from '../entities/identity.entity.js';
import { accountRow } from '../account-row.js';
import { insertAuditEvents } from './audit.repository.js';
import {
  newSessions,
  sessionParameters,
  sessionsFrom,
  type NewSession,
} from './session.repository.js';

/** What a login needs to know of an account before it stores anything. */
export interface AccountForLogin {
  readonly id: string;
  readonly isDisabled: boolean;
}

export interface IdentityProfile {
  readonly provider: string;
  readonly login: string | null;
  readonly eligibility: Eligibility;
  readonly connectedAt: number;
}

export interface AccountProfile {
  readonly id: string;
  readonly createdAt: number;
  readonly keyMode: KeyMode;
  readonly encryptionMode: AccountMode;
  readonly identities: readonly IdentityProfile[];
}

const CREATE_KEYED = `
  WITH "created" AS (
    INSERT INTO "account" ("id", "created_at", "key_mode", "public_key", "encryption_mode")
    VALUES ($1, $2, 'keyed', $3, $4)
    ON CONFLICT ("public_key") DO NOTHING
    RETURNING "id", "token_epoch"),
  "served" AS (SELECT * FROM "created", ${newSessions(5)}),
  ${sessionsFrom('"served"', ['signed-up', 'logged-in'])}
  SELECT "id" FROM "created"`;

@Injectable()
export class AccountRepository {
  constructor(
    private readonly database: Database,
    @InjectRepository(AccountEntity) private readonly accounts: Repository<AccountEntity>,
    @InjectRepository(IdentityEntity) private readonly identities: Repository<IdentityEntity>,
  ) {}

  /**
   * Makes the account of a device key with its first session, by one statement.
   *
   * @param query of the transaction that it belongs to, if any
   * @returns the account's id; null when another login of the same key was first
   */
  async createKeyed(
    publicKey: Buffer,
    encryptionMode: AccountMode,
    session: NewSession,
    query: Query = this.database.query,
  ): Promise<string | null> {
    const [account] = await query<{ id: string }>(CREATE_KEYED, [
      randomUUID(),
      session.createdAt,
      publicKey,
      encryptionMode,
      ...sessionParameters([session]),
    ]);
    return account?.id ?? null;
  }

  /** @throws AppError `token-revoked` when the account is gone */
  async profile(accountId: string): Promise<AccountProfile> {
    const select = { id: true, createdAt: true, keyMode: true, encryptionMode: true };
    const account = accountRow(await this.accounts.findOne({ select, where: { id: accountId } }));
    const identities = await this.identities.find({
      where: { accountId },
      order: { connectedAt: 'ASC' },
    });
    const { id, createdAt, keyMode, encryptionMode } = account;
    return {
      id,
      createdAt: createdAt.getTime(),
      keyMode,
      encryptionMode,
      identities: identities.map(toIdentityProfile),
    };
  }

  /**
   * Removes the account and all that refers to it; its audit events stay for as long as any.
   *
   * @returns false when it was gone
   */
  remove(accountId: string, event: AuditEvent, now: Date): Promise<boolean> {
    return this.database.transaction(async (query) => {
      const isRemoved = await removeAccount(query, accountId);
      if (isRemoved) {
        await insertAuditEvents(query, [event], now);
      }
      return isRemoved;
    });
  }
}

/** Removes the account in the caller's transaction. @returns false when it was gone */
export async function removeAccount(query: Query, accountId: string): Promise<boolean> {
  // Identities before the account: logins lock in that order.
  await query(`SELECT FROM "identity" WHERE "account_id" = $1 ORDER BY "id" FOR UPDATE`, [
    accountId,
  ]);
  const { affected } = await query.manager.delete(AccountEntity, { id: accountId });
  return affected === 1;
}

function toIdentityProfile(identity: IdentityEntity): IdentityProfile {
  return {
    provider: identity.provider,
    login: identity.login,
    eligibility: {
      status: identity.eligibilityStatus,
      // Of another status, it is why a check failed: that is for the operator.
      reason: identity.eligibilityStatus === 'ineligible' ? identity.eligibilityReason : null,
      checkedAt: identity.eligibilityCheckedAt?.getTime() ?? null,
      nextCheckAt: identity.eligibilityNextCheckAt?.getTime() ?? null,
    },
    connectedAt: identity.connectedAt.getTime(),
  };
}
