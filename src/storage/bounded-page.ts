import type { Query } from './database.js';

/** Rows of an index that one page reads at most, where its conditions refuse many of them. */
const EXAMINED = 1000;

/** Collects the parameters of a statement whose parts vary. */
export class Parameters {
  readonly values: unknown[] = [];

  /** @returns the placeholder of the value */
  bind(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}

/** What a page is made of. */
export interface PageParts {
  /** A SELECT in the order of one index. @param limit the placeholder of its LIMIT */
  readonly source: (limit: string) => string;
  /** Which of its rows match, which are called `found`. Empty = all. */
  readonly conditions: readonly string[];
  readonly parameters: Parameters;
  /** Rows that match, at most. */
  readonly limit: number;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** The row behind which the next page begins; null = this is the last page. */
  readonly last: Row | null;
}

/**
 * Reads a page, and a bounded part of one index for it, whatever the size of the table: where the
 * conditions refuse most rows, a page before the last is short or empty.
 */
export async function readPage<Row>(
  query: Query,
  { source, conditions, parameters, limit }: PageParts,
): Promise<Page<Row>> {
  const mostRead = conditions.length === 0 ? limit + 1 : Math.max(EXAMINED, limit + 1);
  const read = await query<Row & ReadRow>(
    `WITH "found" AS MATERIALIZED (
       SELECT *, (row_number() OVER ())::int AS "place"
       FROM (${source(parameters.bind(mostRead))}) AS "source"),
     "matched" AS MATERIALIZED (
       SELECT "place" FROM "found" WHERE ${['true', ...conditions].join(' AND ')}
       ORDER BY "place" LIMIT ${parameters.bind(limit)})
     SELECT "found".*, "place" IN (SELECT "place" FROM "matched") AS "isMatch", "read"
     FROM "found", (SELECT max("place") AS "read" FROM "found") AS "counted"
     WHERE "place" = "read" OR "place" IN (SELECT "place" FROM "matched")
     ORDER BY "place"`,
    parameters.values,
  );
  const rows = read.filter(({ isMatch }) => isMatch);
  const last = (rows.length === limit ? rows : read).at(-1);
  const isLeft = last !== undefined && (last.place < last.read || last.read === mostRead);
  return { rows, last: isLeft ? last : null };
}

interface ReadRow {
  readonly isMatch: boolean;
  /** From 1, among the rows that were read. */
  readonly place: number;
  /** How many were read. */
  readonly read: number;
}
