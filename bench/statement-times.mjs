import { query, startCluster } from './postgres.mjs';

/** Times are those of PostgreSQL itself; what is read is as fast without fsync as with it. */
const SETTINGS = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track_planning': 'on',
  fsync: 'off',
  shared_buffers: '512MB',
  max_wal_size: '8GB',
};

const SPENT = `
  SELECT COALESCE(sum(total_plan_time + total_exec_time), 0)::float8 AS ms, count(*)::int AS statements
  FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'`;

/** A private cluster that adds up the time of statements, and holds a million accounts in memory. */
export function startTimedCluster(directory, name) {
  return startCluster(directory, { name, settings: SETTINGS });
}

/** Once, in the database whose statements are timed. */
export async function beginTiming(url) {
  await query(url, 'CREATE EXTENSION pg_stat_statements');
}

/**
 * @param {() => Promise<T>} work
 * @returns {Promise<{result: T, ms: number}>} `ms` in PostgreSQL, planning included
 * @template T
 */
export async function timeStatements(url, work) {
  await query(url, 'SELECT pg_stat_statements_reset()');
  const result = await work();
  const [{ ms, statements }] = await query(url, SPENT);
  if (statements === 0) {
    throw new Error('No statement was seen.');
  }
  return { result, ms };
}
