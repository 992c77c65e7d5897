import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '../../../../core/policy/audit-event.js';
import { DatabaseService, type Transaction } from '../../database.service.js';
import { judgeAt, type Judgement } from '../oauth/resource-session.repository.js';
import { endGrant } from './program-grant.repository.js';
import type { ProgramGrantEntity } from '../../entities/programs/program-grant.entity.js';
import { inMilliseconds, type InDates, type InMilliseconds } from '../../milliseconds.js';

/** A grant that has to be judged again. Times are Unix milliseconds. */
export interface DueGrant extends InMilliseconds<
  Pick<ProgramGrantEntity, 'id' | 'accountId' | 'resourceServer' | 'expiresAt' | 'lastUsedAt'>
> {
  /** True if a change of an identity made it due. */
  readonly isOfChange: boolean;
}

/** `lapses` ends the session at the backend alone, `ends` the grant. */
export type GrantVerdict = Judgement | { readonly lapses: string } | { readonly ends: string };

interface JudgedGrant {
  readonly verdict: GrantVerdict;
  readonly rules: string;
  /** The time at which it ends unless it is used, Unix milliseconds. */
  readonly idleUntil: number;
}

/** A grant that lapsed or ended, with the stored audit event of its end. */
interface ChangedGrant {
  readonly accountId: string;
  readonly event: AuditEvent | null;
}

type DueRow = InDates<DueGrant, 'expiresAt' | 'lastUsedAt'>;

const DUE = `
  SELECT "id", "account_id" AS "accountId", "resource_server" AS "resourceServer",
    "expires_at" AS "expiresAt", "last_used_at" AS "lastUsedAt", "txn" IS NOT NULL AS "isOfChange"
  FROM "program_grant"
  WHERE "judge_at" <= GREATEST(now(), $1) AND "expires_at" > $1 AND "resource_server" = ANY($2)
  ORDER BY "judge_at" LIMIT $3 FOR UPDATE SKIP LOCKED`;

const KEEP = `
  UPDATE "program_grant" SET "judge_at" = $2, "rules" = $3, "txn" = NULL WHERE "id" = $1`;

/** Judged again when the person's identities or the rules change, and when it is asked for a token. */
const LAPSE = `
  UPDATE "program_grant" SET "sid" = NULL, "refusal" = $2, "judge_at" = $3, "rules" = $4,
    "txn" = NULL WHERE "id" = $1`;

const MARK_OTHER_RULES = `
  UPDATE "program_grant" SET "judge_at" = now() WHERE "id" = ANY(ARRAY(
    SELECT "id" FROM "program_grant" WHERE "resource_server" = $1 AND "rules" <> $2
      AND "expires_at" > now() AND ("judge_at" IS NULL OR "judge_at" > now())
    LIMIT $3 FOR UPDATE SKIP LOCKED))
  RETURNING 1`;

/** Grants to judge again. Replicas skip each other's batches. */
@Injectable()
export class ProgramJudgementRepository {
  constructor(private readonly database: DatabaseService) {}

  /**
   * Judges a batch.
   * @param judge returns one verdict for each grant, in their order
   * @returns the number of grants, and those that lapsed or ended
   */
  judgeDue(
    { now, limit, resourceServers }: { now: Date; limit: number; resourceServers: string[] },
    judge: (due: readonly DueGrant[], tx: Transaction) => Promise<readonly JudgedGrant[]>,
  ): Promise<{ readonly judged: number; readonly changed: readonly ChangedGrant[] }> {
    return this.database.byIndex(async (tx) => {
      const rows = await tx.query<DueRow>(DUE, [now, resourceServers, limit]);
      if (rows.length === 0) {
        return { judged: 0, changed: [] };
      }
      const due = rows.map(inMilliseconds);
      const judged = await judge(due, tx);
      return { judged: due.length, changed: await storeVerdicts(tx, due, judged, now) };
    });
  }

  /** Returns which of these accounts have an identity of that provider. */
  async linkedAmong(
    tx: Transaction,
    pairs: readonly { readonly accountId: string; readonly provider: string }[],
  ): Promise<Set<string>> {
    const rows = await tx.query<{ accountId: string; provider: string }>(
      `SELECT "identity"."account_id" AS "accountId", "identity"."provider"
       FROM unnest($1::uuid[], $2::text[]) AS "pair" ("account_id", "provider")
       JOIN "identity" USING ("account_id", "provider")`,
      [pairs.map(({ accountId }) => accountId), pairs.map(({ provider }) => provider)],
    );
    return new Set(rows.map(({ accountId, provider }) => `${accountId} ${provider}`));
  }

  /** @returns true if the batch was full, so that more rows may be left */
  async markOtherRules(resourceServer: string, rules: string, limit: number): Promise<boolean> {
    const marked = await this.database.query(MARK_OTHER_RULES, [resourceServer, rules, limit]);
    return marked.length === limit;
  }
}

const UNJUDGED: JudgedGrant = { verdict: { ends: 'internal' }, rules: '', idleUntil: 0 };

async function storeVerdicts(
  tx: Transaction,
  due: readonly DueGrant[],
  judged: readonly JudgedGrant[],
  now: Date,
): Promise<ChangedGrant[]> {
  const changed: ChangedGrant[] = [];
  for (const [index, { id, accountId }] of due.entries()) {
    const { verdict, rules, idleUntil } = judged[index] ?? UNJUDGED;
    if ('until' in verdict) {
      await tx.query(KEEP, [id, judgeAt(Math.min(verdict.until, idleUntil)), rules]);
    } else if ('lapses' in verdict) {
      changed.push({ accountId, event: null });
      await tx.query(LAPSE, [id, verdict.lapses, new Date(idleUntil), rules]);
    } else {
      const by = { actor: 'system', reason: verdict.ends } as const;
      changed.push({ accountId, event: await endGrant(tx, { accountId, id }, by, now) });
    }
  }
  return changed;
}
