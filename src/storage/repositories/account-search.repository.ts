import { Injectable } from '@nestjs/common';
import { CERTIFICATES } from '../../policy/admission/admission.js';
import { Parameters, readPage } from '../bounded-page.js';
import { Database } from '../database.js';
import { AccountAdminRepository, type AdministeredAccount } from './account-admin.repository.js';

/** `ineligible`: an identity of the account is refused by its provider or by the rules. */
export const ACCOUNT_STATES = ['active', 'disabled', 'ineligible'] as const;

export type AccountState = (typeof ACCOUNT_STATES)[number];

/** What to search accounts by; all that is given must match. */
export interface AccountFilter {
  /** The beginning of a login, an e-mail address or the subject of a certificate, in any case. */
  readonly text?: string | undefined;
  readonly provider?: string | undefined;
  readonly state?: AccountState | undefined;
}

/** Behind which account a page begins: its key in the order of the search, and its id. */
export interface AccountPosition {
  readonly key: string;
  readonly id: string;
}

export interface AccountPage {
  readonly accounts: readonly AdministeredAccount[];
  /** null = this is the last page. A page before the last can have fewer accounts than its limit. */
  readonly next: AccountPosition | null;
}

/** Above every text that begins with the one before it. */
const END_OF_PREFIX = '\u{10FFFF}';
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** The texts that name a person, each with the condition of its index. */
const NAMES = [
  [`lower("login") COLLATE "C"`, `"login" IS NOT NULL`],
  [`lower("facts" ->> 'email') COLLATE "C"`, `"facts" ->> 'email' IS NOT NULL`],
  [`lower("subject") COLLATE "C"`, `"provider" = '${CERTIFICATES}'`],
] as const;

/**
 * Conditions on an account that was `found`. Subqueries of one value: the planner must look each
 * account up by its index, and may not join the whole table.
 */
const STATES: Readonly<Record<AccountState, string>> = {
  active: `(SELECT "disabled_at" IS NULL FROM "account" WHERE "account"."id" = "found"."id")`,
  disabled: `(SELECT "disabled_at" IS NOT NULL FROM "account"
    WHERE "account"."id" = "found"."id")`,
  ineligible: anyIdentity(`"eligibility_status" = 'ineligible'`),
};

function anyIdentity(condition: string): string {
  return `COALESCE((SELECT bool_or(${condition}) FROM "identity"
    WHERE "account_id" = "found"."id"), false)`;
}

/** Finds accounts for an administrator, page by page. */
@Injectable()
export class AccountSearchRepository {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountAdminRepository,
  ) {}

  /** @param after `next` of the page before; null for the first page */
  async page(
    filter: AccountFilter,
    after: AccountPosition | null,
    limit: number,
  ): Promise<AccountPage> {
    const parameters = new Parameters();
    const parts = { ...searchFor(filter, after, parameters), parameters, limit };
    const { rows, last } = await readPage<AccountPosition>(this.database.query, parts);
    return {
      accounts: await this.accounts.inOrder(rows.map(({ id }) => id)),
      next: last && { key: last.key, id: last.id },
    };
  }
}

interface Search {
  readonly source: (limit: string) => string;
  readonly conditions: readonly string[];
}

/** The filter with the most selective index leads; the others judge the accounts that it gives. */
function searchFor(
  { text, provider, state }: AccountFilter,
  after: AccountPosition | null,
  parameters: Parameters,
): Search {
  const ofState = state === undefined ? [] : [STATES[state]];
  const ofProvider = (): string[] =>
    provider === undefined ? [] : [anyIdentity(`"provider" = ${parameters.bind(provider)}`)];
  if (text !== undefined) {
    const { source, isFirst } = byText(text, after, parameters);
    return { source, conditions: [isFirst, ...ofState, ...ofProvider()] };
  }
  if (state === 'disabled' || state === 'ineligible') {
    const source =
      state === 'disabled' ? byDisabled(after, parameters) : byIneligible(after, parameters);
    return { source, conditions: ofProvider() };
  }
  return provider === undefined
    ? { source: byId(after, parameters), conditions: ofState }
    : { source: byProvider(provider, after, parameters), conditions: ofState };
}

function byId(after: AccountPosition | null, parameters: Parameters): Search['source'] {
  const id = parameters.bind(after?.id ?? NO_ID);
  return (limit) => `
    SELECT "id"::text AS "key", "id" FROM "account"
    WHERE "id" > ${id} ORDER BY "account"."id" LIMIT ${limit}`;
}

function byDisabled(after: AccountPosition | null, parameters: Parameters): Search['source'] {
  const id = parameters.bind(after?.id ?? NO_ID);
  return (limit) => `
    SELECT "id"::text AS "key", "id" FROM "account"
    WHERE "disabled_at" IS NOT NULL AND "id" > ${id} ORDER BY "account"."id" LIMIT ${limit}`;
}

function byIneligible(after: AccountPosition | null, parameters: Parameters): Search['source'] {
  const id = parameters.bind(after?.id ?? NO_ID);
  return (limit) => `
    SELECT "account_id"::text AS "key", "account_id" AS "id" FROM "identity"
    WHERE "eligibility_status" = 'ineligible' AND "account_id" > ${id}
    GROUP BY "account_id" ORDER BY "identity"."account_id" LIMIT ${limit}`;
}

/** In the order of the subjects, of which an account has one at each provider. */
function byProvider(
  provider: string,
  after: AccountPosition | null,
  parameters: Parameters,
): Search['source'] {
  const [id, key] = [parameters.bind(provider), parameters.bind(after?.key ?? '')];
  return (limit) => `
    SELECT "subject" AS "key", "account_id" AS "id" FROM "identity"
    WHERE "provider" = ${id} AND "subject" > ${key} ORDER BY "subject" LIMIT ${limit}`;
}

/** In the order of the names, each of which has an index of its own. */
function byText(
  text: string,
  after: AccountPosition | null,
  parameters: Parameters,
): { readonly source: Search['source']; readonly isFirst: string } {
  const prefix = parameters.bind(text);
  const [key, id] = [parameters.bind(after?.key ?? ''), parameters.bind(after?.id ?? NO_ID)];
  const [first, end] = [`lower(${prefix}::text)`, `lower(${prefix}::text) || '${END_OF_PREFIX}'`];
  // One lower bound: of two, PostgreSQL may begin to read its index at the lower one.
  const from = `(GREATEST(${first} COLLATE "C", ${key}::text), ${id}::uuid)`;
  const found = (limit: string): string[] =>
    NAMES.map(
      ([name, condition]) => `
      (SELECT ${name} AS "key", "account_id" AS "id" FROM "identity"
       WHERE ${condition} AND (${name}, "account_id") > ${from} AND ${name} < ${end}
       ORDER BY ${name}, "account_id" LIMIT ${limit})`,
    );
  const earlier = NAMES.map(
    ([name, condition]) => `(${condition} AND ${name} >= ${first} AND ${name} < ${end}
      AND ${name} < "found"."key")`,
  );
  return {
    source: (limit) => `
      SELECT "key", "id" FROM (${found(limit).join(' UNION ')}) AS "named"
      ORDER BY "key", "id" LIMIT ${limit}`,
    // An account with several names that begin so is listed under the first of them only.
    isFirst: `NOT ${anyIdentity(earlier.join(' OR '))}`,
  };
}
