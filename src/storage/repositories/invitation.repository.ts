import { createHash, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { AuditEvent, OperatorName } from '../../policy/audit-event.js';
import type { AccountMode } from '../../policy/operator-policy.js';
import { Database } from '../database.js';
import { InvitationEntity } from '../entities/invitation.entity.js';
import { insertAuditEvents } from './audit.repository.js';
import {
  newSessions,
  sessionParameters,
  sessionsFrom,
  type NewSession,
} from './session.repository.js';

/** What an administrator decides about an invitation. */
export interface NewInvitation {
  /** Accounts that it may make. */
  readonly uses: number;
  readonly expiresAt: Date;
  readonly note: string | null;
}

/** An invitation without its code, which is not stored. Times are Unix milliseconds. */
export interface ListedInvitation {
  readonly id: string;
  readonly note: string | null;
  readonly uses: number;
  readonly used: number;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** null = it is not revoked. */
  readonly revokedAt: number | null;
}

/** The invitation behind which a page begins. */
export interface InvitationPosition {
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly id: string;
}

export interface InvitationPage {
  readonly invitations: readonly ListedInvitation[];
  /** null = this is the last page. */
  readonly next: InvitationPosition | null;
}

/** The account of an invited device key, and the invitation that made it. */
export interface InvitedAccount {
  /** null = another login of the same key was first: then the invitation is not used. */
  readonly accountId: string | null;
  readonly invitationId: string;
  readonly inviter: OperatorName;
}

/**
 * The row is locked before its uses are compared, so sign-ups with one code wait for one another; and
 * it is counted only when the account was made.
 */
const SIGN_UP = `
  WITH "open" AS (
    SELECT "id", "created_by" FROM "invitation"
    WHERE "code_hash" = $5 AND "used" < "uses" AND "revoked_at" IS NULL AND "expires_at" > $2
    FOR UPDATE),
  "created" AS (
    INSERT INTO "account" ("id", "created_at", "key_mode", "public_key", "encryption_mode")
    SELECT $1::uuid, $2::timestamptz, 'keyed', $3::bytea, $4::text FROM "open"
    ON CONFLICT ("public_key") DO NOTHING
    RETURNING "id", "token_epoch"),
  "counted" AS (
    UPDATE "invitation" SET "used" = "used" + 1
    WHERE "id" = (SELECT "id" FROM "open") AND EXISTS (SELECT FROM "created")),
  "served" AS (SELECT * FROM "created", ${newSessions(6)}),
  ${sessionsFrom('"served"', ['signed-up', 'logged-in'])},
  "invited" AS (
    INSERT INTO "audit_event" ("at", "kind", "actor", "account_id", "invitation_id", "session_id",
      "address")
    SELECT "at", 'invitation-used', "open"."created_by", "served"."id", "open"."id", "session_id",
      "address"
    FROM "served", "open")
  SELECT (SELECT "id" FROM "created") AS "accountId", "id" AS "invitationId",
    "created_by" AS "inviter"
  FROM "open"`;

/** Invitations. A code is found by its hash alone; it has enough entropy for an unsalted one. */
@Injectable()
export class InvitationRepository {
  constructor(private readonly database: Database) {}

  /**
   * Stores an invitation and its audit event.
   *
   * @param code of `drawInvitationCode`
   * @returns its id
   */
  async create(
    code: string,
    { uses, expiresAt, note }: NewInvitation,
    actor: OperatorName,
    now: Date,
  ): Promise<string> {
    const id = randomUUID();
    await this.database.transaction(async (query) => {
      const row = { id, codeHash: hashOf(code), note, uses, createdBy: actor };
      await query.manager.insert(InvitationEntity, { ...row, createdAt: now, expiresAt });
      const event: AuditEvent = {
        ...{ kind: 'invitation-created', actor, accountId: null, invitationId: id },
        ...(note !== null && { reason: note }),
      };
      await insertAuditEvents(query, [event], now);
    });
    return id;
  }

  /**
   * Makes the account of a device key with its first session, and counts the use of the invitation, by
   * one statement. A refused one stores nothing.
   *
   * @param code of `readInvitationCode`
   * @returns null for a code that is unknown, used up, revoked or expired
   */
  async signUp(
    code: string,
    publicKey: Buffer,
    encryptionMode: AccountMode,
    session: NewSession,
  ): Promise<InvitedAccount | null> {
    const [account] = await this.database.query<InvitedAccount>(SIGN_UP, [
      ...[randomUUID(), session.createdAt, publicKey, encryptionMode, hashOf(code)],
      ...sessionParameters([session]),
    ]);
    return account ?? null;
  }

  /**
   * One page, newest first. Those that expired are deleted after a minute.
   *
   * @param after `next` of the page before; null for the first page
   */
  async page(after: InvitationPosition | null, limit: number): Promise<InvitationPage> {
    const rows = await this.database.query<
      Omit<ListedInvitation, 'createdAt' | 'expiresAt' | 'revokedAt'> &
        Pick<InvitationEntity, 'createdAt' | 'expiresAt' | 'revokedAt'>
    >(
      `SELECT "id", "note", "uses", "used", "created_by" AS "createdBy",
         "created_at" AS "createdAt", "expires_at" AS "expiresAt", "revoked_at" AS "revokedAt"
       FROM "invitation"
       WHERE $1::timestamptz IS NULL OR ("created_at", "id") < ($1, $2::uuid)
       ORDER BY "created_at" DESC, "id" DESC LIMIT $3`,
      [after && new Date(after.createdAt), after?.id ?? null, limit + 1],
    );
    const invitations = rows.slice(0, limit).map((row) => ({
      ...row,
      createdAt: row.createdAt.getTime(),
      expiresAt: row.expiresAt.getTime(),
      revokedAt: row.revokedAt?.getTime() ?? null,
    }));
    const last = rows.length > limit ? invitations.at(-1) : undefined;
    return {
      invitations,
      next: last === undefined ? null : { createdAt: last.createdAt, id: last.id },
    };
  }

  /** Revokes an invitation, with its audit event; the accounts it made stay. */
  revoke(
    id: string,
    { actor, reason }: { readonly actor: OperatorName; readonly reason: string },
    now: Date,
  ): Promise<'done' | 'unchanged' | 'not-found'> {
    return this.database.transaction(async (query) => {
      const [found] = await query<{ isRevoked: boolean }>(
        `SELECT "revoked_at" IS NOT NULL AS "isRevoked" FROM "invitation" WHERE "id" = $1
         FOR UPDATE`,
        [id],
      );
      if (found === undefined) {
        return 'not-found';
      }
      if (found.isRevoked) {
        return 'unchanged';
      }
      await query.manager.update(InvitationEntity, { id }, { revokedAt: now });
      const kind = 'invitation-revoked';
      const event: AuditEvent = { kind, actor, accountId: null, invitationId: id, reason };
      await insertAuditEvents(query, [event], now);
      return 'done';
    });
  }
}

function hashOf(code: string): Buffer {
  return createHash('sha256').update(code).digest();
}
