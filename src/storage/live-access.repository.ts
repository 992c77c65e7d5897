import { Injectable } from '@nestjs/common';
import type { AccessFacts, IdentityFacts } from '../policy/access.js';
import { Database } from './database.js';

/** A token that somebody holds a connection with. */
export interface HeldToken {
  readonly accountId: string;
  readonly tokenId: string;
}

/** Where one of them stands now. */
export interface HeldTokenFacts {
  readonly access: AccessFacts;
  /** The account's newest update. */
  readonly updateSeq: number;
}

const IDENTITIES = `(SELECT json_agg(json_build_object('provider', "provider",
    'status', "eligibility_status",
    'checkedAt', floor(extract(epoch FROM "eligibility_checked_at") * 1000)))
  FROM "identity" WHERE "account_id" = "account"."id")`;

const factsOfTokens = (identities: string): string => `
  SELECT "held"."token_id" AS "tokenId", "token_epoch" AS "tokenEpoch",
    "disabled_at" IS NOT NULL AS "isDisabled", "revoked"."token_id" IS NOT NULL AS "isRevoked",
    "update_seq" AS "updateSeq", ${identities} AS "identities"
  FROM unnest($1::uuid[], $2::uuid[]) AS "held" ("account_id", "token_id")
  JOIN "account" ON "account"."id" = "held"."account_id"
  LEFT JOIN "token_revocation" AS "revoked" ON "revoked"."token_id" = "held"."token_id"`;

const WITH_IDENTITIES = factsOfTokens(IDENTITIES);
const WITHOUT_IDENTITIES = factsOfTokens('NULL::json');

/** What decides whether tokens that are in use stay good, for many of them at once. */
@Injectable()
export class LiveAccessRepository {
  constructor(private readonly database: Database) {}

  /**
   * One statement, whatever their number: the caller bounds it.
   *
   * @param needsIdentities whether anything hangs on linked identities; they are left out otherwise
   * @returns by token id; tokens whose account is gone are left out
   */
  async factsOf(
    held: readonly HeldToken[],
    needsIdentities: boolean,
  ): Promise<Map<string, HeldTokenFacts>> {
    const rows = await this.database.query<FactsRow>(
      needsIdentities ? WITH_IDENTITIES : WITHOUT_IDENTITIES,
      [held.map(({ accountId }) => accountId), held.map(({ tokenId }) => tokenId)],
    );
    return new Map(
      rows.map(({ tokenId, updateSeq, identities, ...access }) => [
        tokenId,
        { access: { ...access, identities: identities ?? [] }, updateSeq: Number(updateSeq) },
      ]),
    );
  }
}

interface FactsRow extends Omit<AccessFacts, 'identities'> {
  readonly tokenId: string;
  readonly updateSeq: string;
  readonly identities: IdentityFacts[] | null;
}
