/**
 * Soak tests: many idle connections on one replica, churn, a database that goes away
 * under load. Run by hand, never by CI: node bench/soak/main.mjs [--minutes 2] [--sockets 2000]
 * [--pause 10] [--dist dist] [--only idle|away|churn]. Taken in full: --minutes 30 --sockets 10000 --pause 30.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { migrate } from '../gatehouse.mjs';
import { openDatabase } from '../postgres.mjs';
import { stopAll } from '../processes.mjs';
import { churn } from './churn.mjs';
import { databaseAway } from './database-away.mjs';
import { idleSockets } from './idle-sockets.mjs';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    sockets: { type: 'string', default: '2000' },
    pause: { type: 'string', default: '10' },
    only: { type: 'string' },
    dist: { type: 'string', default: 'dist' },
  },
});
const limits = {
  minutes: Number(values.minutes),
  sockets: Number(values.sockets),
  pauseMs: Number(values.pause) * 1000,
};

if (process.env.DATABASE_URL !== undefined) {
  throw new Error('Unset DATABASE_URL: the soak stops its database, which has to be its own.');
}
const directory = await mkdtemp(join(tmpdir(), 'gatehouse-soak-'));
const database = await openDatabase(directory);
const context = { directory, databaseUrl: database.url, database, dist: resolve(values.dist) };
try {
  await migrate(context);
  console.log('| what | figures |\n| --- | --- |');
  const parts = { idle: idleSockets, away: databaseAway, churn };
  for (const part of values.only === undefined ? Object.values(parts) : [parts[values.only]]) {
    for (const [what, figures] of await part(context, limits)) {
      console.log(`| ${what} | ${figures} |`);
    }
  }
} finally {
  await stopAll();
  await database.close();
  await rm(directory, { recursive: true, force: true });
}
