import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const SAMPLE_MS = 25;
/** PostgreSQL's counts lag behind by that much. */
const COUNTED_AFTER_MS = 1500;

const CONNECTIONS = `SELECT count(*) AS count FROM pg_stat_activity
  WHERE application_name = 'gatehouse'`;
const TRANSACTIONS = `SELECT xact_commit AS count FROM pg_stat_database
  WHERE datname = current_database()`;

/**
 * Watches how a database is used, over one connection.
 *
 * @returns {Promise<{stop: () => Promise<{connections: number, transactions: number}>}>} the most
 *   connections of Gatehouse at one time, and the transactions until it is stopped, less its own
 */
export async function watchDatabase(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const ask = async (sql) => Number((await client.query(sql)).rows[0].count);
  const before = await ask(TRANSACTIONS);
  let connections = 0;
  let own = 1;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      connections = Math.max(connections, await ask(CONNECTIONS));
      own += 1;
      await sleep(SAMPLE_MS);
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await watching;
      await sleep(COUNTED_AFTER_MS);
      const transactions = (await ask(TRANSACTIONS)) - before - own;
      await client.end();
      return { connections, transactions };
    },
  };
}
