import type { SqlRunner } from '../database.service.js';
import type { MasterKeys, SecretState } from './master-keys.js';
import { TARGETS, type ResealPurpose } from './reseal.js';

/** Stored values of one purpose that one key sealed. */
export interface StoredKey {
  readonly purpose: ResealPurpose;
  readonly keyId: string;
  readonly count: number;
}

export interface StoredKeysReport {
  /** Number of values by the state of the secret that sealed them. */
  readonly counts: Readonly<Record<SecretState | 'unknown', number>>;
  /** Ids of the keys whose secret is missing. */
  readonly unknownKeyIds: readonly string[];
  /** True if most of the values cannot be opened. */
  readonly isWrongSecret: boolean;
}

/** Enough to recognise a wrong secret, and few enough for each start of each replica. */
const VALUES_OF_EACH_PURPOSE = 1000;

/** Reads which keys sealed the stored values: at most `limit` values of each purpose are read. */
export function readStoredKeys(
  sql: SqlRunner,
  limit = VALUES_OF_EACH_PURPOSE,
): Promise<StoredKey[]> {
  const parts = Object.entries(TARGETS).map(
    ([purpose, { table, value, form }]) => `
      SELECT '${purpose}' AS "purpose", encode("key", 'hex') AS "keyId", count(*)::int AS "count"
      FROM (
        SELECT substring(${value} FROM 2 FOR 4) AS "key" FROM "${table}"
        WHERE ${value} IS NOT NULL ${form === null ? '' : `AND ${form} = 'sealed'`} LIMIT $1
      ) AS "sealed" GROUP BY "key"`,
  );
  return sql.query<StoredKey>(parts.join(' UNION ALL '), [limit]);
}

/** Compares the keys of stored values with the master secrets of this process. */
export function judgeStoredKeys(
  stored: readonly StoredKey[],
  masterKeys: MasterKeys,
): StoredKeysReport {
  const counts = { current: 0, previous: 0, former: 0, unknown: 0 };
  const unknownKeyIds = new Set<string>();
  for (const { keyId, count } of stored) {
    const state = masterKeys.stateOf(keyId);
    counts[state ?? 'unknown'] += count;
    if (state === null) {
      unknownKeyIds.add(keyId);
    }
  }
  const opened = counts.current + counts.previous + counts.former;
  return {
    counts,
    unknownKeyIds: [...unknownKeyIds].sort(),
    isWrongSecret: counts.unknown > opened,
  };
}
