import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository } from 'typeorm';
import { Random } from '../../../common/runtime/random.js';
import type { AuditEvent } from '../../../core/policy/audit-event.js';
import type {
  Eligibility,
  EligibilityStatus,
} from '../../../core/policy/eligibility/eligibility.js';
import { judgeSignals, type SignalDecision } from '../../../core/policy/eligibility/signals.js';
import type { AccountMode } from '../../../core/policy/operator-policy.js';
import { DatabaseService, type Transaction } from '../database.service.js';
import { AccountEntity } from '../entities/account.entity.js';
import { IdentityEntity } from '../entities/identity.entity.js';
import { accountRow, holdCaller, lockIdentitiesOf, type CallingSession } from '../account-row.js';
import { signalsOfAccounts, type IdentitySignals } from './directory/identity-signal.repository.js';
import { insertAuditEvents } from './audit.repository.js';
import {
  newSessions,
  sessionParameters,
  sessionsFrom,
  type NewSession,
} from './session.repository.js';
import { keepSignOut, waitingFor } from './signals/waiting-sign-outs.js';
import { inMilliseconds, type InMilliseconds } from '../milliseconds.js';

export interface AccountForLogin {
  readonly id: string;
  readonly isDisabled: boolean;
}

interface IdentityProfile {
  readonly provider: string;
  readonly login: string | null;
  readonly eligibility: Eligibility;
  readonly connectedAt: number;
}

export interface AccountProfile extends InMilliseconds<
  Pick<AccountEntity, 'id' | 'createdAt' | 'keyMode' | 'encryptionMode'>
> {
  readonly identities: readonly IdentityProfile[];
}

const CREATE_KEYED = `
  WITH "created" AS (
    INSERT INTO "account" ("id", "created_at", "key_mode", "public_key", "encryption_mode")
    VALUES ($1, $2, 'keyed', $3, $4)
    ON CONFLICT ("public_key") DO NOTHING
    RETURNING "id", "token_epoch"),
  "signed_up" AS (SELECT * FROM "created", ${newSessions(5)}),
  ${sessionsFrom('"signed_up"', ['signed-up', 'logged-in'])}
  SELECT "id" FROM "created"`;

@Injectable()
export class AccountRepository {
  constructor(
    private readonly database: DatabaseService,
    @InjectRepository(AccountEntity) private readonly accounts: Repository<AccountEntity>,
    @InjectRepository(IdentityEntity) private readonly identities: Repository<IdentityEntity>,
    private readonly random: Random,
  ) {}

  /**
   * Creates the account of a device key with its first session, by one statement.
   * @returns null when a concurrent login of the same key was first
   */
  async createKeyed(
    publicKey: Buffer,
    encryptionMode: AccountMode,
    session: NewSession,
    tx?: Transaction,
  ): Promise<string | null> {
    const [account] = await (tx ?? this.database).query<{ id: string }>(CREATE_KEYED, [
      this.random.uuid(),
      session.createdAt,
      publicKey,
      encryptionMode,
      ...sessionParameters([session]),
    ]);
    return account?.id ?? null;
  }

  /** @throws AppError `token-revoked` when the account is deleted */
  async profile(accountId: string): Promise<AccountProfile> {
    const select = { id: true, createdAt: true, keyMode: true, encryptionMode: true };
    const account = accountRow(await this.accounts.findOne({ select, where: { id: accountId } }));
    const identities = await this.identities.find({
      where: { accountId },
      order: { connectedAt: 'ASC' },
    });
    const signals = await signalsOfAccounts(this.database, [accountId]);
    return {
      ...inMilliseconds(account),
      identities: identities.map((identity) =>
        toIdentityProfile(identity, signals.get(identity.id)),
      ),
    };
  }

  /**
   * Deletes the account of the caller and its rows. Its audit events stay.
   * @returns false without one
   * @throws AppError `token-revoked` when the session has ended
   */
  remove(caller: CallingSession, event: AuditEvent, now: Date): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const isRemoved = await removeAccount(tx, caller.accountId, now, caller);
      if (isRemoved) {
        await insertAuditEvents(tx, [event], now);
      }
      return isRemoved;
    });
  }
}

/**
 * Earlier logins that are not finished end: they would make another account, without what is known of this one.
 * @param caller whose session must still go on; null = an administrator
 * @returns false when it did not exist
 */
export async function removeAccount(
  tx: Transaction,
  accountId: string,
  now: Date,
  caller: CallingSession | null = null,
): Promise<boolean> {
  for (const { provider, subject } of await lockIdentitiesOf(tx, accountId)) {
    await keepSignOut(tx, provider, waitingFor('refusal', [{ subject }]), now, now);
  }
  if (caller !== null) {
    await holdCaller(tx, caller);
  }
  const { affected } = await tx.manager.delete(AccountEntity, { id: accountId });
  return affected === 1;
}

function toIdentityProfile(
  identity: IdentityEntity,
  found: IdentitySignals | undefined,
): IdentityProfile {
  const { provider, eligibilityStatus, eligibilityReason } = identity;
  const signals = judgeSignals({ provider, ...found });
  const status = statusOf(eligibilityStatus, signals);
  const reason = signals.isAllowed ? eligibilityReason : signals.reason;
  return {
    provider: identity.provider,
    login: identity.login,
    eligibility: {
      status,
      // The reasons of other statuses are failures of a check, which only the operator sees.
      reason: status === 'ineligible' ? reason : null,
      checkedAt: identity.eligibilityCheckedAt?.getTime() ?? null,
      nextCheckAt: identity.eligibilityNextCheckAt?.getTime() ?? null,
    },
    connectedAt: identity.connectedAt.getTime(),
  };
}

/** A person who is signed out is unknown until the next login. */
function statusOf(stored: EligibilityStatus, signals: SignalDecision): EligibilityStatus {
  const isRefused = !signals.isAllowed && signals.reason !== 'signed_out';
  if (isRefused || stored === 'ineligible') {
    return 'ineligible';
  }
  return signals.isAllowed ? stored : 'unknown';
}
