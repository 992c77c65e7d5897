import type { SqlRunner } from '../database.service.js';
import { NO_ID, RESEAL_PURPOSES, TARGETS, type ResealPurpose, type ResealRow } from './reseal.js';
import type { SealedBoxService } from './sealed-box.service.js';

type SealedRow = Omit<ResealRow, 'isSealed'>;

const BATCH = 200;

/**
 * Opens the lasting sealed values of a database: all, or at most `limit` of each purpose.
 * @returns the number of opened ones, and of those that no master secret of this process opens
 */
export async function openSealedValues(runner: SqlRunner, box: SealedBoxService, limit = Infinity) {
  const count = { opened: 0, unreadable: 0 };
  for (const purpose of RESEAL_PURPOSES) {
    for await (const { owner, bytes } of sealedRows(runner, purpose, limit)) {
      const isOpened = box.openOrNull(purpose, owner, bytes) !== null;
      count[isOpened ? 'opened' : 'unreadable'] += 1;
    }
  }
  return count;
}

async function* sealedRows(
  runner: SqlRunner,
  purpose: ResealPurpose,
  limit: number,
): AsyncGenerator<SealedRow> {
  const { table, id, service, value, owner, form } = TARGETS[purpose];
  const sql = `
    SELECT ${id} AS "id", ${service} AS "service", ${owner} AS "owner", ${value} AS "bytes"
    FROM "${table}"
    WHERE ${value} IS NOT NULL AND ${form === null ? 'true' : `${form} = 'sealed'`}
      AND (${id}, ${service}) > ($1::uuid, $2)
    ORDER BY ${id}, ${service} LIMIT $3`;
  let after = { id: NO_ID, service: '' };
  for (let left = limit; left > 0; left -= BATCH) {
    const count = Math.min(left, BATCH);
    const rows = await runner.query<SealedRow>(sql, [after.id, after.service, count]);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) {
      return;
    }
    after = last;
  }
}
