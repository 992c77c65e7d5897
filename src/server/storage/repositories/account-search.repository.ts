import { Injectable } from '@nestjs/common';
import { CERTIFICATES } from '../../../core/policy/admission/admission.js';
import { isUuid } from '../../../common/uuid.js';
import { Parameters } from '../bounded-page.js';
import { DatabaseService } from '../database.service.js';
import { AccountAdminRepository, type AdministeredAccount } from './account-admin.repository.js';
import { COUNTED } from './administration-counts.repository.js';

/** `ineligible`: the provider or the rules refuse an identity of the account. */
export const ACCOUNT_STATES = ['active', 'disabled', 'ineligible'] as const;

export type AccountState = (typeof ACCOUNT_STATES)[number];

export interface AccountFilter {
  /** Part of a login, an e-mail address or the subject of a certificate, case-insensitive. */
  readonly text?: string | undefined;
  readonly id?: string | undefined;
  readonly provider?: string | undefined;
  readonly state?: AccountState | undefined;
}

export interface AccountPosition {
  /** When the account was last seen: microseconds of Unix time, which a number cannot hold. */
  readonly key: string;
  readonly id: string;
}

export interface AccountPage {
  readonly accounts: readonly AdministeredAccount[];
  /** null = last page. */
  readonly next: AccountPosition | null;
}

export interface CountedAccountPage extends AccountPage {
  /** Accounts on all pages; one more than {@link COUNTED} stands for any number above. */
  readonly total: number;
}

/** An account that was never seen after its creation was seen then: it signed in. */
const SEEN = `COALESCE("last_seen_at", "created_at")`;

const STATES: Readonly<Record<AccountState, string>> = {
  active: `"disabled_at" IS NULL`,
  disabled: `"disabled_at" IS NOT NULL`,
  ineligible: withIdentity(`"eligibility_status" = 'ineligible'`),
};

const NAMES = [
  `"login"`,
  `"facts" ->> 'email'`,
  `CASE WHEN "provider" = '${CERTIFICATES}' THEN "subject" END`,
];

function withIdentity(condition: string): string {
  return `"id" IN (SELECT "account_id" FROM "identity" WHERE ${condition})`;
}

@Injectable()
export class AccountSearchRepository {
  constructor(
    private readonly database: DatabaseService,
    private readonly accounts: AccountAdminRepository,
  ) {}

  /** Returns the accounts that were seen last first, and how many match on all pages. */
  async page(
    filter: AccountFilter,
    after: AccountPosition | null,
    limit: number,
  ): Promise<CountedAccountPage> {
    const parameters = new Parameters();
    const conditions = conditionsOf(filter, parameters);
    const isBehind = after === null ? 'true' : behind(after, parameters);
    // A literal limit: for a parameter, PostgreSQL plans to read a tenth of the table.
    const last = `ORDER BY "seen" DESC, "id" DESC LIMIT ${Math.trunc(limit) + 1}`;
    const sql = matchesFew(filter)
      ? fromMatches(conditions, isBehind, last)
      : fromIndex(conditions, isBehind, last);
    const rows = await this.database.query<AccountPosition & { readonly total: number }>(
      sql,
      parameters.values,
    );
    const page = await this.pageOf(
      rows.filter(({ id }) => id !== null),
      limit,
    );
    return { ...page, total: rows[0]?.total ?? 0 };
  }

  /** Returns accounts in an order that does not change while they are read. */
  async inIdOrder(after: string | null, limit: number): Promise<AccountPage> {
    const rows = await this.database.query<AccountPosition>(
      `SELECT "id", '0' AS "key" FROM "account" WHERE $1::uuid IS NULL OR "id" > $1::uuid
       ORDER BY "id" LIMIT ${Math.trunc(limit) + 1}`,
      [after],
    );
    return this.pageOf(rows, limit);
  }

  private async pageOf(rows: readonly AccountPosition[], limit: number): Promise<AccountPage> {
    const shown = rows.slice(0, limit);
    return {
      accounts: await this.accounts.inOrder(shown.map(({ id }) => id)),
      next: rows.length > limit ? (shown.at(-1) ?? null) : null,
    };
  }
}

const KEY = `(EXTRACT(epoch FROM "seen") * 1000000)::bigint::text AS "key"`;

function matchesFew({ text, id, provider, state }: AccountFilter): boolean {
  return [text, id, provider].some((one) => one !== undefined) || state === 'ineligible';
}

/** An account is found by its id, or by a part of its names. */
export function byIdOrName(query: string): Pick<AccountFilter, 'id' | 'text'> {
  return isUuid(query) ? { id: query } : { text: query };
}

/** Reads the page from the index of the order, and counts apart. Most accounts match. */
function fromIndex(conditions: readonly string[], isBehind: string, last: string): string {
  const matches = ['true', ...conditions].join(' AND ');
  return `
    SELECT "total", "page"."id", ${KEY}
    FROM (SELECT count(*)::int AS "total" FROM (
        SELECT FROM "account" WHERE ${matches} LIMIT ${COUNTED + 1}) AS "some") AS "counted"
      LEFT JOIN LATERAL (
        SELECT "id", ${SEEN} AS "seen" FROM "account" WHERE ${matches} AND ${isBehind}
        ${last}) AS "page" ON true
    ORDER BY "seen" DESC, "id" DESC`;
}

/** Collects all matches, then sorts them: a search inside words reads every identity once. */
function fromMatches(conditions: readonly string[], isBehind: string, last: string): string {
  return `
    WITH "matched" AS MATERIALIZED (
      SELECT "id", "last_seen_at", "created_at" FROM "account" WHERE ${conditions.join(' AND ')})
    SELECT "total", "page"."id", ${KEY}
    FROM (SELECT LEAST(count(*), ${COUNTED + 1})::int AS "total" FROM "matched") AS "counted"
      LEFT JOIN LATERAL (
        SELECT "id", ${SEEN} AS "seen" FROM "matched" WHERE ${isBehind} ${last}) AS "page" ON true
    ORDER BY "seen" DESC, "id" DESC`;
}

function behind(after: AccountPosition, parameters: Parameters): string {
  const [key, id] = [parameters.bind(after.key), parameters.bind(after.id)];
  return `(${SEEN}, "id") < ('epoch'::timestamptz + ${key}::bigint * interval '1 microsecond', ${id}::uuid)`;
}

function conditionsOf(filter: AccountFilter, parameters: Parameters): string[] {
  const { text, id, provider, state } = filter;
  const identity = [
    ...(provider === undefined ? [] : [`"provider" = ${parameters.bind(provider)}`]),
    ...(text === undefined ? [] : [anyNameHas(parameters.bind(text))]),
  ];
  return [
    ...(id === undefined ? [] : [`"id" = ${parameters.bind(id)}::uuid`]),
    ...(state === undefined ? [] : [STATES[state]]),
    ...identity.map(withIdentity),
  ];
}

/** @param text the placeholder of the part */
function anyNameHas(text: string): string {
  const has = NAMES.map((name) => `strpos(lower(${name}), lower(${text}::text)) > 0`);
  return `(${has.join(' OR ')})`;
}
