import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '../../../../core/policy/audit-event.js';
import { Runtime } from '../../../../common/runtime/runtime.js';
import { batched } from '../../batched.js';
import { DatabaseService, type Transaction } from '../../database.service.js';
import type { ProgramGrantEntity } from '../../entities/programs/program-grant.entity.js';
import { SealedBoxService } from '../../sealing/sealed-box.service.js';
import {
  judgeAt,
  PERSON_OF_LOGIN,
  type Judgement,
  type PersonFacts,
} from '../oauth/resource-session.repository.js';
import { endGrant, hashOfCode } from './program-grant.repository.js';

/** A grant for which a token is asked. */
export interface AskedGrant extends Readonly<
  Pick<
    ProgramGrantEntity,
    | ('id' | 'accountId' | 'resourceServer' | 'clientId' | 'clientName' | 'redirectUri' | 'scopes')
    | ('codeChallenge' | 'codeUsedAt' | 'expiresAt' | 'grantedUntil' | 'authenticatedAt')
    | ('generation' | 'supersededAt')
  >
> {
  readonly method: string;
  readonly identities: readonly PersonFacts[];
  /** The key of its refresh tokens; null before the code is used, or without its master secret. */
  readonly refreshKey: Buffer | null;
}

/** A grant as it was read without a lock. */
export interface ReadGrant extends AskedGrant {
  /** Its session at the backend; null = none yet, or refused for now. */
  readonly sid: string | null;
}

/** The next state of a grant that got a token. */
export interface GrantUse {
  readonly judgement: Judgement;
  readonly address: string;
  /** The number of the newest refresh token. */
  readonly generation: number;
  readonly supersededAt: readonly Date[];
}

const ASKED = `
  SELECT "id", "account_id" AS "accountId", "resource_server" AS "resourceServer",
    "client_id" AS "clientId", "client_name" AS "clientName", "redirect_uri" AS "redirectUri", "scopes",
    "code_challenge" AS "codeChallenge", "code_used_at" AS "codeUsedAt",
    "expires_at" AS "expiresAt", "granted_until" AS "grantedUntil", "generation",
    "superseded_at" AS "supersededAt", "authenticated_at" AS "authenticatedAt",
    "authenticated_by" AS "method", "refresh_key" AS "sealedKey", "sid", ${PERSON_OF_LOGIN}
  FROM "program_grant" AS "login"`;

const HELD = `${ASKED} WHERE "id" = $1 FOR UPDATE`;
const READ = `${ASKED} WHERE "id" = ANY($1::uuid[])`;
const AT_ONCE = 500;

const USE = `
  UPDATE "program_grant" SET "code_used_at" = COALESCE("code_used_at", $2),
    "expires_at" = "granted_until", "sid" = COALESCE("sid", $3), "judge_at" = $4, "rules" = $5,
    "txn" = NULL, "refusal" = NULL, "last_used_at" = $2, "last_address" = $6,
    "generation" = $7, "superseded_at" = $8::timestamptz[],
    "refresh_key" = COALESCE("refresh_key", $9)
  WHERE "id" = $1 RETURNING "sid"`;

/**
 * Changes no row that ended, lapsed or was marked since it was read, and judges none later than a judgement in between
 * demands. It changes no index. It waits for no row, so that it can hold many: a use that gets none holds it alone.
 */
const REUSE = `
  UPDATE "program_grant" SET "last_used_at" = "use"."now", "last_address" = "use"."address",
    "judge_at" = LEAST("judge_at", "use"."judgeAt"), "generation" = "use"."generation",
    "superseded_at" = "use"."supersededAt"
  FROM (
    SELECT "use".* FROM json_to_recordset($1::json) AS "use" (
      "id" uuid, "sid" uuid, "read" integer, "rules" text, "now" timestamptz, "address" text,
      "judgeAt" timestamptz, "generation" integer, "supersededAt" timestamptz[])
    JOIN "program_grant" AS "asked" ON "asked"."id" = "use"."id" AND "asked"."sid" = "use"."sid"
      AND "asked"."generation" = "use"."read" AND "asked"."rules" = "use"."rules"
      AND "asked"."txn" IS NULL
    FOR NO KEY UPDATE OF "asked" SKIP LOCKED) AS "use"
  WHERE "program_grant"."id" = "use"."id"
  RETURNING "program_grant"."id"`;

/** A row of {@link REUSE}, as JSON. */
interface Reuse {
  readonly id: string;
  readonly sid: string | null;
  readonly read: number;
  readonly rules: string;
  readonly now: Date;
  readonly address: string;
  readonly judgeAt: Date | null;
  readonly generation: number;
  readonly supersededAt: readonly Date[];
}

type AskedRow = Omit<ReadGrant, 'refreshKey'> & { readonly sealedKey: Buffer | null };

/**
 * Codes and refresh tokens of grants. A use is one transaction that holds account and grant, or one statement that
 * finds the grant as it was read.
 */
@Injectable()
export class ProgramTokenRepository {
  /** Reads a grant without a lock; null = there is none. Calls within a short time share a read. */
  readonly read: (id: string) => Promise<ReadGrant | null>;
  private readonly storeReuse: (reuse: Reuse) => Promise<boolean>;

  constructor(
    private readonly database: DatabaseService,
    private readonly box: SealedBoxService,
    private readonly runtime: Runtime,
  ) {
    this.read = batched(runtime, (ids) => this.readAll(ids), { maxKeys: AT_ONCE });
    this.storeReuse = batched(runtime, (uses) => this.storeReuses(uses), { maxKeys: AT_ONCE });
  }

  /**
   * Runs `work` with the grant of a code. Its result is committed, also where it is a refusal.
   * @returns null without such a grant
   */
  async withCode<Result>(
    code: string,
    work: (grant: AskedGrant, tx: Transaction) => Promise<Result>,
  ): Promise<Result | null> {
    return this.held(`"code_hash" = $1`, hashOfCode(code), work);
  }

  /** As {@link withCode}, with the grant of a refresh token. */
  async withGrant<Result>(
    id: string,
    work: (grant: AskedGrant, tx: Transaction) => Promise<Result>,
  ): Promise<Result | null> {
    return this.held(`"program_grant"."id" = $1`, id, work);
  }

  /** @returns the `sid`, and the key of the refresh tokens */
  async use(
    tx: Transaction,
    grant: Pick<AskedGrant, 'id' | 'refreshKey'>,
    { judgement, address, generation, supersededAt }: GrantUse,
    now: Date,
  ): Promise<{ readonly sid: string; readonly refreshKey: Buffer }> {
    const refreshKey = grant.refreshKey ?? this.runtime.random.bytes(32);
    const sealed = grant.refreshKey === null ? this.seal(grant.id, refreshKey) : null;
    const [row] = await tx.query<{ sid: string }>(USE, [
      grant.id,
      now,
      this.runtime.random.uuid(),
      judgeAt(judgement.until),
      judgement.rules,
      address,
      generation,
      supersededAt,
      sealed,
    ]);
    return { sid: row?.sid ?? '', refreshKey };
  }

  /**
   * As {@link use} for a grant that was read and then judged, without a lock: what ends access deletes
   * or marks the grant, and waits for this statement or is seen by it. Calls within a short time share it.
   * @returns false when the grant changed meanwhile, or is being used; nothing is stored then
   */
  reuse(
    { id, sid, generation: read }: ReadGrant,
    { judgement, ...use }: GrantUse,
    now: Date,
  ): Promise<boolean> {
    const { until, rules } = judgement;
    return this.storeReuse({ ...use, id, sid, read, rules, now, judgeAt: judgeAt(until) });
  }

  /** Ends only the session at the backend: the person may be admitted again. */
  async lapse(tx: Transaction, { id }: AskedGrant, code: string): Promise<void> {
    await tx.query(`UPDATE "program_grant" SET "sid" = NULL, "refusal" = $2 WHERE "id" = $1`, [
      id,
      code,
    ]);
  }

  /** @returns the stored audit event */
  end(
    tx: Transaction,
    grant: AskedGrant,
    reason: string,
    { address, now }: { readonly address: string; readonly now: Date },
  ): Promise<AuditEvent | null> {
    return endGrant(tx, grant, { actor: 'system', reason, address }, now);
  }

  private async held<Result>(
    condition: string,
    key: unknown,
    work: (grant: AskedGrant, tx: Transaction) => Promise<Result>,
  ): Promise<Result | null> {
    return this.database.transaction(async (tx) => {
      const [found] = await tx.query<{ id: string }>(
        `SELECT "program_grant"."id" FROM "program_grant"
         JOIN "account" ON "account"."id" = "account_id" WHERE ${condition} FOR SHARE OF "account"`,
        [key],
      );
      // The account is held by an earlier statement, so that this one sees what ended meanwhile.
      const [row] = found === undefined ? [] : await tx.query<AskedRow>(HELD, [found.id]);
      return row === undefined ? null : work(this.opened(row), tx);
    });
  }

  private async readAll(ids: readonly string[]): Promise<(ReadGrant | null)[]> {
    const rows = await this.database.query<AskedRow>(READ, [ids]);
    const found = new Map(rows.map((row) => [row.id, this.opened(row)]));
    return ids.map((id) => found.get(id) ?? null);
  }

  private opened({ sealedKey, ...grant }: AskedRow): ReadGrant {
    return { ...grant, refreshKey: this.open(grant.id, sealedKey) };
  }

  /** Stores the first of several uses of a grant, which stands for all that lead to the same generation. */
  private async storeReuses(uses: readonly Reuse[]): Promise<boolean[]> {
    const first = new Map(uses.toReversed().map((use) => [use.id, use]));
    const rows = await this.database.query<{ id: string }>(REUSE, [
      JSON.stringify([...first.values()]),
    ]);
    const stored = new Set(rows.map(({ id }) => id));
    return uses.map(
      ({ id, generation }) => stored.has(id) && first.get(id)?.generation === generation,
    );
  }

  private seal(id: string, refreshKey: Buffer): Buffer {
    return this.box.seal('program-grant', id, refreshKey.toString('base64url'));
  }

  private open(id: string, sealed: Buffer | null): Buffer | null {
    const text = sealed && this.box.openOrNull('program-grant', id, sealed);
    return text === null ? null : Buffer.from(text, 'base64url');
  }
}
