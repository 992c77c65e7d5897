import { Injectable } from '@nestjs/common';
import { Random } from '../../../common/runtime/random.js';
import { sha256 } from '../../../common/sha256.js';
import type { AuditEvent, OperatorName } from '../../../core/policy/audit-event.js';
import type { AccountMode } from '../../../core/policy/operator-policy.js';
import { DatabaseService } from '../database.service.js';
import { InvitationEntity } from '../entities/invitation.entity.js';
import { insertAuditEvents } from './audit.repository.js';
import {
  newSessions,
  sessionParameters,
  sessionsFrom,
  type NewSession,
} from './session.repository.js';
import { inMilliseconds, type InMilliseconds } from '../milliseconds.js';

export interface NewInvitation {
  readonly uses: number;
  readonly expiresAt: Date;
  readonly note: string | null;
}

/** An invitation without its code, which is not stored. Times are Unix milliseconds. */
export type ListedInvitation = InMilliseconds<Omit<InvitationEntity, 'codeHash'>>;

export interface InvitationPosition {
  readonly createdAt: number;
  readonly id: string;
}

interface InvitedAccount {
  /** null = a concurrent login of the same key was first; the invitation is then unused. */
  readonly accountId: string | null;
  readonly invitationId: string;
  readonly inviter: OperatorName;
}

/** Locks the row before it compares its uses: sign-ups with one code run one after another. */
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
  "signed_up" AS (SELECT * FROM "created", ${newSessions(6)}),
  ${sessionsFrom('"signed_up"', ['signed-up', 'logged-in'])},
  "invited" AS (
    INSERT INTO "audit_event" ("at", "kind", "actor", "account_id", "invitation_id", "session_id",
      "address")
    SELECT "at", 'invitation-used', "open"."created_by", "signed_up"."id", "open"."id", "session_id",
      "address"
    FROM "signed_up", "open")
  SELECT (SELECT "id" FROM "created") AS "accountId", "id" AS "invitationId",
    "created_by" AS "inviter"
  FROM "open"`;

interface InvitationOrigin {
  readonly actor: OperatorName;
  /** Address of the operator's client; absent = the operator worked on the database. */
  readonly address?: string;
}

/** Invitations. A code is found by its hash alone; it has enough entropy for an unsalted one. */
@Injectable()
export class InvitationRepository {
  constructor(
    private readonly database: DatabaseService,
    private readonly random: Random,
  ) {}

  /** @param code of `drawInvitationCode` @returns the id of the invitation, and its stored event */
  async create(
    code: string,
    { uses, expiresAt, note }: NewInvitation,
    { actor, ...by }: InvitationOrigin,
    now: Date,
  ): Promise<{ readonly id: string; readonly event: AuditEvent }> {
    const id = this.random.uuid();
    const event: AuditEvent = {
      kind: 'invitation-created',
      actor,
      ...by,
      accountId: null,
      invitationId: id,
      ...(note !== null && { reason: note }),
    };
    await this.database.transaction(async (tx) => {
      const row = { id, codeHash: sha256(code), note, uses, createdBy: actor };
      await tx.manager.insert(InvitationEntity, { ...row, createdAt: now, expiresAt });
      await insertAuditEvents(tx, [event], now);
    });
    return { id, event };
  }

  /**
   * Creates the account of a device key with its first session and counts the use, by one
   * statement.
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
      this.random.uuid(),
      session.createdAt,
      publicKey,
      encryptionMode,
      sha256(code),
      ...sessionParameters([session]),
    ]);
    return account ?? null;
  }

  /**
   * Returns one page, newest first. Expired invitations are deleted after a minute.
   * @param after `next` of the previous page
   */
  async page(after: InvitationPosition | null, limit: number) {
    const rows = await this.database.query<Omit<InvitationEntity, 'codeHash'>>(
      `SELECT "id", "note", "uses", "used", "created_by" AS "createdBy",
         "created_at" AS "createdAt", "expires_at" AS "expiresAt", "revoked_at" AS "revokedAt"
       FROM "invitation"
       WHERE $1::timestamptz IS NULL OR ("created_at", "id") < ($1, $2::uuid)
       ORDER BY "created_at" DESC, "id" DESC LIMIT $3`,
      [after && new Date(after.createdAt), after?.id ?? null, limit + 1],
    );
    const invitations = rows.slice(0, limit).map(inMilliseconds);
    const last = rows.length > limit ? invitations.at(-1) : undefined;
    return {
      invitations,
      next: last === undefined ? null : { createdAt: last.createdAt, id: last.id },
    };
  }

  /** Revokes an invitation, with its audit event, which it returns. Its accounts stay. */
  revoke(
    id: string,
    by: InvitationOrigin & { readonly reason: string },
    now: Date,
  ): Promise<AuditEvent | 'unchanged' | 'not-found'> {
    return this.database.transaction(async (tx) => {
      const lock = { mode: 'pessimistic_write' } as const;
      const found = await tx.manager.findOne(InvitationEntity, { where: { id }, lock });
      if (found === null) {
        return 'not-found';
      }
      if (found.revokedAt !== null) {
        return 'unchanged';
      }
      await tx.manager.update(InvitationEntity, { id }, { revokedAt: now });
      const kind = 'invitation-revoked';
      const event: AuditEvent = { kind, accountId: null, invitationId: id, ...by };
      await insertAuditEvents(tx, [event], now);
      return event;
    });
  }
}
