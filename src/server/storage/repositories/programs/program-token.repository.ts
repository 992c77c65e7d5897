import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '../../../../core/policy/audit-event.js';
import { Random } from '../../../../common/runtime/random.js';
import { DatabaseService, type Transaction } from '../../database.service.js';
import { BrokenSealError, SealedBoxService } from '../../sealing/sealed-box.service.js';
import {
  judgeAt,
  PERSON_OF_LOGIN,
  type Judgement,
  type PersonFacts,
} from '../oauth/resource-session.repository.js';
import { endGrant, hashOfCode } from './program-grant.repository.js';

/** A grant for which a token is asked, held until the transaction ends. */
export interface HeldGrant {
  readonly id: string;
  readonly accountId: string;
  readonly resourceServer: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly codeChallenge: string | null;
  readonly codeUsedAt: Date | null;
  readonly expiresAt: Date;
  readonly grantedUntil: Date;
  readonly generation: number;
  readonly supersededAt: readonly Date[];
  readonly authenticatedAt: Date;
  readonly method: string;
  readonly identities: readonly PersonFacts[];
  /** The key of its refresh tokens; null before the code is used, or without its master secret. */
  readonly refreshKey: Buffer | null;
}

/** The next state of a grant that got a token. */
interface GrantUse {
  readonly judgement: Judgement;
  readonly address: string;
  /** The number of the newest refresh token. */
  readonly generation: number;
  readonly supersededAt: readonly Date[];
}

const HELD = `
  SELECT "id", "account_id" AS "accountId", "resource_server" AS "resourceServer",
    "client_id" AS "clientId", "client_name" AS "clientName", "redirect_uri" AS "redirectUri", "scopes",
    "code_challenge" AS "codeChallenge", "code_used_at" AS "codeUsedAt",
    "expires_at" AS "expiresAt", "granted_until" AS "grantedUntil", "generation",
    "superseded_at" AS "supersededAt", "authenticated_at" AS "authenticatedAt",
    "authenticated_by" AS "method", "refresh_key" AS "sealedKey", ${PERSON_OF_LOGIN}
  FROM "program_grant" AS "login" WHERE "id" = $1 FOR UPDATE`;

const USE = `
  UPDATE "program_grant" SET "code_used_at" = COALESCE("code_used_at", $2),
    "expires_at" = "granted_until", "sid" = COALESCE("sid", $3), "judge_at" = $4, "rules" = $5,
    "txn" = NULL, "refusal" = NULL, "last_used_at" = $2, "last_address" = $6,
    "generation" = $7, "superseded_at" = $8::timestamptz[],
    "refresh_key" = COALESCE("refresh_key", $9)
  WHERE "id" = $1 RETURNING "sid"`;

type HeldRow = Omit<HeldGrant, 'refreshKey'> & { readonly sealedKey: Buffer | null };

/** Codes and refresh tokens of grants: each use is one transaction that holds account and grant. */
@Injectable()
export class ProgramTokenRepository {
  constructor(
    private readonly database: DatabaseService,
    private readonly box: SealedBoxService,
    private readonly random: Random,
  ) {}

  /**
   * Runs `work` with the grant of a code. Its result is committed, also where it is a refusal.
   * @returns null without such a grant
   */
  async withCode<Result>(
    code: string,
    work: (grant: HeldGrant, tx: Transaction) => Promise<Result>,
  ): Promise<Result | null> {
    return this.held(`"code_hash" = $1`, hashOfCode(code), work);
  }

  /** As {@link withCode}, with the grant of a refresh token. */
  async withGrant<Result>(
    id: string,
    work: (grant: HeldGrant, tx: Transaction) => Promise<Result>,
  ): Promise<Result | null> {
    return this.held(`"program_grant"."id" = $1`, id, work);
  }

  /** @returns the `sid`, and the key of the refresh tokens */
  async use(
    tx: Transaction,
    grant: Pick<HeldGrant, 'id' | 'refreshKey'>,
    { judgement, address, generation, supersededAt }: GrantUse,
    now: Date,
  ): Promise<{ readonly sid: string; readonly refreshKey: Buffer }> {
    const refreshKey = grant.refreshKey ?? this.random.bytes(32);
    const sealed = grant.refreshKey === null ? this.seal(grant.id, refreshKey) : null;
    const [row] = await tx.query<{ sid: string }>(USE, [
      grant.id,
      now,
      this.random.uuid(),
      judgeAt(judgement.until),
      judgement.rules,
      address,
      generation,
      supersededAt,
      sealed,
    ]);
    return { sid: row?.sid ?? '', refreshKey };
  }

  /** Ends only the session at the backend: the person may be admitted again. */
  async lapse(tx: Transaction, { id }: HeldGrant, code: string): Promise<void> {
    await tx.query(`UPDATE "program_grant" SET "sid" = NULL, "refusal" = $2 WHERE "id" = $1`, [
      id,
      code,
    ]);
  }

  /** @returns the stored audit event */
  end(
    tx: Transaction,
    grant: HeldGrant,
    reason: string,
    { address, now }: { readonly address: string; readonly now: Date },
  ): Promise<AuditEvent | null> {
    return endGrant(tx, grant, { actor: 'system', reason, address }, now);
  }

  private async held<Result>(
    condition: string,
    key: unknown,
    work: (grant: HeldGrant, tx: Transaction) => Promise<Result>,
  ): Promise<Result | null> {
    return this.database.transaction(async (tx) => {
      const [found] = await tx.query<{ id: string }>(
        `SELECT "program_grant"."id" FROM "program_grant"
         JOIN "account" ON "account"."id" = "account_id" WHERE ${condition} FOR SHARE OF "account"`,
        [key],
      );
      // The account is held by an earlier statement, so that this one sees what ended meanwhile.
      const [row] = found === undefined ? [] : await tx.query<HeldRow>(HELD, [found.id]);
      if (row === undefined) {
        return null;
      }
      const { sealedKey, ...grant } = row;
      return work({ ...grant, refreshKey: this.open(row.id, sealedKey) }, tx);
    });
  }

  private seal(id: string, refreshKey: Buffer): Buffer {
    return this.box.seal('program-grant', id, refreshKey.toString('base64url'));
  }

  private open(id: string, sealed: Buffer | null): Buffer | null {
    try {
      return sealed && Buffer.from(this.box.open('program-grant', id, sealed), 'base64url');
    } catch (error) {
      if (error instanceof BrokenSealError) {
        return null;
      }
      throw error;
    }
  }
}
