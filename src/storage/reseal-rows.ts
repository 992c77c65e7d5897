import type { Query } from './database.js';
import type { SealPurpose } from './sealed-box.js';

/** A value whose seal is to be renewed, or that is to be sealed. */
export interface ResealRow {
  /** The row's key; `service` is empty where the account or identity alone is the key. */
  readonly id: string;
  readonly service: string;
  /** Whom the seal belongs to. */
  readonly owner: string;
  readonly isSealed: boolean;
  readonly bytes: Buffer;
}

/** Which rows are meant. */
export interface ResealQuestion {
  /** Seals of this key are current. */
  readonly keyId: Buffer;
  /** Whether values that were kept plain are meant too. */
  readonly isPlainMeant: boolean;
}

interface Target {
  readonly table: string;
  readonly id: string;
  readonly service: string;
  readonly value: string;
  readonly owner: string;
  /** null where every value is sealed. */
  readonly form: string | null;
}

const TARGETS = {
  'account-settings': {
    table: 'account',
    id: '"id"',
    service: `''::text`,
    value: '"settings_content"',
    owner: '"id"::text',
    form: '"settings_form"',
  },
  'account-credentials': {
    table: 'account_credential',
    id: '"account_id"',
    service: '"service" COLLATE "C"',
    value: '"content"',
    owner: `"account_id" || '/' || "service"`,
    form: '"form"',
  },
  'identity-credentials': {
    table: 'identity',
    id: '"id"',
    service: `''::text`,
    value: '"credentials"',
    owner: `"account_id" || '/' || "provider"`,
    form: null,
  },
} as const satisfies Partial<Record<SealPurpose, Target>>;

/** What is sealed for longer than a few minutes. */
export type ResealPurpose = keyof typeof TARGETS;

export const RESEAL_PURPOSES = Object.keys(TARGETS) as readonly ResealPurpose[];

const NO_ID = '00000000-0000-0000-0000-000000000000';

/** How many values are meant. */
export async function countRows(
  query: Query,
  purpose: ResealPurpose,
  question: ResealQuestion,
): Promise<number> {
  const { table, value } = TARGETS[purpose];
  const [row] = await query<{ count: number }>(
    `SELECT count(*)::int AS "count" FROM "${table}" WHERE ${value} IS NOT NULL AND ${meant(purpose)}`,
    [question.keyId, question.isPlainMeant],
  );
  return row?.count ?? 0;
}

/** The next of them in the order of their keys. @param after the last one before; null = the first */
export function nextRows(
  query: Query,
  purpose: ResealPurpose,
  question: ResealQuestion,
  after: ResealRow | null,
  limit: number,
): Promise<ResealRow[]> {
  const { table, id, service, value, owner, form } = TARGETS[purpose];
  return query<ResealRow>(
    `SELECT ${id} AS "id", ${service} AS "service", ${owner} AS "owner", ${value} AS "bytes",
       ${form === null ? 'true' : `${form} = 'sealed'`} AS "isSealed"
     FROM "${table}"
     WHERE ${value} IS NOT NULL AND ${meant(purpose)} AND (${id}, ${service}) > ($3::uuid, $4)
     ORDER BY ${id}, ${service} LIMIT $5`,
    [question.keyId, question.isPlainMeant, after?.id ?? NO_ID, after?.service ?? '', limit],
  );
}

/**
 * Puts the new seal in place of exactly the value that was read, by one statement: what a server
 * wrote meanwhile stays.
 *
 * @returns whether it was still there
 */
export async function replaceValue(
  query: Query,
  purpose: ResealPurpose,
  row: ResealRow,
  sealed: Buffer,
): Promise<boolean> {
  const { table, id, service, value, form } = TARGETS[purpose];
  const replaced = await query(
    `UPDATE "${table}" SET ${value} = $4${form === null ? '' : `, ${form} = 'sealed'`}
     WHERE ${id} = $1 AND ${service} = $2 AND ${value} = $3 RETURNING 1`,
    [row.id, row.service, row.bytes, sealed],
  );
  return replaced.length > 0;
}

/** Bytes 2 to 5 of a seal name its key. */
function meant(purpose: ResealPurpose): string {
  const { value, form } = TARGETS[purpose];
  const isOld = `substring(${value} FROM 2 FOR 4) <> $1`;
  return form === null
    ? `(${isOld} OR $2::boolean IS NULL)`
    : `((${form} = 'sealed' AND ${isOld}) OR (${form} = 'plain' AND $2::boolean))`;
}
