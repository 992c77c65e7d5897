import { Injectable } from '@nestjs/common';
import { In, MoreThan } from 'typeorm';
import { sha256 } from '../../../../common/sha256.js';
import type { EndEvent, SignalOrigin } from '../../../../core/policy/audit-event.js';
import type { SubjectName } from '../../../../core/policy/eligibility/subject-identifier.js';
import { holdAccounts } from '../../account-row.js';
import { DatabaseService, type Transaction } from '../../database.service.js';
import { SessionEntity } from '../../entities/session.entity.js';
import {
  IdentitySignalRepository,
  type SignalEffect,
} from '../directory/identity-signal.repository.js';
import { endSessions } from '../session-end.repository.js';
import { makeIdentitiesDue } from '../identity-due.repository.js';
import { hashOfProviderSession } from '../session.repository.js';
import { keepSignOut, lockSignOuts, waitingFor } from './waiting-sign-outs.js';

/** Session and subject of a logout token (OpenID Connect Back-Channel Logout 1.0, 2.4). */
interface LogoutRequest {
  readonly tokenId: string;
  readonly subject: string | null;
  readonly providerSession: string | null;
  readonly issuer: string;
}

const LOGOUT_REASON = 'backchannel-logout';
const SIGN_OUT_REASON = 'universal-logout';

interface SignOutRequest {
  readonly tokenId: string;
  /** null = no identity of the provider. */
  readonly name: SubjectName | null;
  /** True if every session of an account needs the provider. */
  readonly isRequired: boolean;
  readonly origin: SignalOrigin;
}

@Injectable()
export class ProviderLogoutRepository {
  constructor(
    private readonly database: DatabaseService,
    private readonly signals: IdentitySignalRepository,
  ) {}

  /**
   * Ends the sessions of the provider's session, and marks the identity of the subject as due. The
   * use of the token is stored with the changes: a token whose delivery failed can be sent again.
   * @param expiresAt end of the time for which the used token is remembered
   * @returns null when this provider's token with that id was used before
   */
  async logOut(
    provider: string,
    { tokenId, subject, providerSession, issuer }: LogoutRequest,
    expiresAt: Date,
    now: Date,
  ): Promise<{ readonly due: number; readonly ended: readonly EndEvent[] } | null> {
    const tokenHash = tokenHashOf(provider, tokenId);
    const people = subject === null ? [] : [{ subject }];
    const sessions = providerSession === null ? [] : [{ session: providerSession }];
    return this.database.transaction(async (tx) => {
      await lockSignOuts(tx, provider, [...people, ...sessions]);
      if (!(await useToken(tx, tokenHash, expiresAt))) {
        return null;
      }
      const due = subject === null ? 0 : await makeIdentitiesDue(tx, { provider, subject });
      const waiting = [...waitingFor('recheck', people), ...sessions];
      await keepSignOut(tx, provider, waiting, now, now);
      if (providerSession === null) {
        return { due, ended: [] };
      }
      const by = { reason: LOGOUT_REASON, now, origin: { issuer } };
      return { due, ended: await endProviderSession(tx, { provider, providerSession, ...by }) };
    });
  }

  /**
   * Ends the sessions that the named identities admit, and admits none before their next login. The
   * use of the token is stored too, also where it names no identity.
   * @returns null when the token was used before; else an effect for each identity, and whether an
   *   account keeps sessions that another identity or its device key admits
   */
  signOut(provider: string, { tokenId, name, ...by }: SignOutRequest, expiresAt: Date, now: Date) {
    return this.database.transaction(async (tx) => {
      const tokenHash = tokenHashOf(provider, SIGN_OUT_REASON, tokenId);
      if (!(await useToken(tx, tokenHash, expiresAt))) {
        return null;
      }
      const names = name === null ? [] : [name];
      await lockSignOuts(tx, provider, names);
      await keepSignOut(tx, provider, names, now, now);
      const effects: SignalEffect[] = [];
      const subjects = name === null ? [] : await this.signals.subjectsOf(tx, provider, name);
      for (const subject of subjects) {
        const change = { ...by, reason: SIGN_OUT_REASON, now };
        const effect = await this.signals.signOut(tx, { provider, subject }, change);
        effects.push(...(effect === null ? [] : [effect]));
      }
      const accountIds = effects.map(({ accountId }) => accountId);
      const left = { accountId: In(accountIds), expiresAt: MoreThan(now) };
      return { effects, hasSessions: await tx.manager.existsBy(SessionEntity, left) };
    });
  }
}

interface EndOfProviderSession {
  readonly provider: string;
  readonly providerSession: string;
  /** The reason of the audit events. */
  readonly reason: string;
  readonly now: Date;
  readonly origin: SignalOrigin;
}

/** @returns true for the first use */
export async function useToken(
  tx: Transaction,
  tokenHash: Buffer,
  expiresAt: Date,
): Promise<boolean> {
  const used = await tx.query(
    `INSERT INTO "logout_token" ("token_hash", "expires_at") VALUES ($1, $2)
     ON CONFLICT ("token_hash") DO NOTHING RETURNING 1`,
    [tokenHash, expiresAt],
  );
  return used.length > 0;
}

/** Distinguishes the tokens of providers, and of kinds. */
export function tokenHashOf(...parts: readonly string[]): Buffer {
  return sha256(JSON.stringify(parts));
}

/**
 * Ends the sessions and grants that are part of the provider's, or were vouched for by one that is.
 * @returns the stored audit events
 */
export async function endProviderSession(
  tx: Transaction,
  { provider, providerSession, reason, now, origin }: EndOfProviderSession,
): Promise<EndEvent[]> {
  const parameters = [hashOfProviderSession(provider, providerSession)];
  const owners = await tx.query<{ id: string }>(
    `SELECT "account_id" AS "id" FROM "session" WHERE "provider_session" = $1 UNION
     SELECT "account_id" AS "id" FROM "program_grant" WHERE "provider_session" = $1`,
    parameters,
  );
  await holdAccounts(
    tx,
    owners.map(({ id }) => id),
  );
  const by = { actor: 'provider', provider, reason, ...origin } as const;
  const of = { where: '"provider_session" = $1', parameters };
  return endSessions(tx, { sessions: of, grants: of }, by, now);
}
