import type { SqlRunner } from './database.service.js';

/** Most index rows that one page reads when its conditions exclude most of them. */
const EXAMINED = 1000;

export class Parameters {
  readonly values: unknown[] = [];

  bind(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}

export interface PageParts {
  /** A SELECT in the order of one index. @param limit the placeholder of its LIMIT */
  readonly source: (limit: string) => string;
  /** Conditions on the rows of `source`, which are named `found`. Empty = all rows match. */
  readonly conditions: readonly string[];
  readonly parameters: Parameters;
  readonly limit: number;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** The row after which the next page begins; null = this is the last page. */
  readonly last: Row | null;
}

/** Reads a page from a bounded part of an index. Pages before the last may be short or empty. */
export async function readPage<Row>(
  runner: SqlRunner,
  { source, conditions, parameters, limit }: PageParts,
): Promise<Page<Row>> {
  const mostRead = conditions.length === 0 ? limit + 1 : Math.max(EXAMINED, limit + 1);
  const read = await runner.query<Row & ReadRow>(
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
  readonly place: number;
  readonly read: number;
}
