/**
 * npm run bench -- [SET] [--only NAME]... [--json FILE] [--dist DIR] [--rounds N] [--seconds N]
 *   [--most N] [--sockets N] [--outage SECONDS]
 */
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openDatabase } from './database.mjs';
import { gatehouseEnvironment, migrate } from './gatehouse.mjs';
import { stopAll } from './processes.mjs';
import { growthTables, rowsTable } from './report.mjs';
import { groups as reconnect } from './reconnect.mjs';
import { groups as backends } from './rows/backends.mjs';
import { groups as connections } from './rows/connections.mjs';
import { groups as database } from './rows/database.mjs';
import { groups as grants } from './rows/grants.mjs';
import { groups as http } from './rows/http.mjs';
import { groups as peers } from './rows/peers.mjs';
import { groups as programs } from './rows/programs.mjs';
import { groups as accounts } from './scale/accounts.mjs';
import { groups as directory } from './scale/directory.mjs';
import { groups as replicas } from './scale/replicas.mjs';
import { groups as sockets } from './scale/sockets.mjs';

const SETS = {
  rows: {
    groups: { ...http, ...connections, ...backends, ...grants, ...programs, ...database, ...peers },
    howOften: ({ rounds, seconds }) =>
      `${rounds} rounds of ${seconds} s a side, limit and Gatehouse in turn, after a warm-up`,
    print: rowsTable,
  },
  scale: {
    groups: { ...accounts, ...sockets, ...replicas, ...directory },
    howOften: ({ seconds }) => `Requests are loaded for ${seconds} s a size, after a warm-up`,
    print: growthTables,
  },
  reconnect: {
    groups: reconnect,
    howOften: ({ sockets: count }) => `${count} sockets of as many accounts, each case once`,
    print: rowsTable,
  },
};

/** Past this the run is given up as broken. */
const DEADLINE_MS = 1_800_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', multiple: true },
    json: { type: 'string' },
    dist: { type: 'string', default: 'dist' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    most: { type: 'string', default: '1000000' },
    sockets: { type: 'string', default: '10000' },
    outage: { type: 'string', default: '10' },
  },
});
const { only, json, dist, ...numbers } = values;
const [[, set]] = choose(SETS, [positionals[0] ?? 'rows']);
await run(choose(set.groups, only));

/** Prints what was measured, and ends the program with every process that it started, whatever happens. */
async function run(groups) {
  const temporary = await mkdtemp(join(tmpdir(), 'gatehouse-bench-'));
  // For the files of fixtures; PostgreSQL runs as a user of its own.
  await chmod(temporary, 0o711);
  process.env.TMPDIR = temporary;
  const tooLong = sleep(DEADLINE_MS, 'The bench took too long.', { ref: false });
  const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  const givenUp = Promise.race([tooLong, interrupted.then(() => 'The bench was interrupted.')]);
  const end = new AbortController();
  const fail = (reason) => {
    end.abort();
    throw new Error(reason);
  };
  const results = [];
  try {
    await Promise.race([measure(temporary, groups, end.signal, results), givenUp.then(fail)]);
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  }
  // The group that was given up may start one more in the meantime.
  await stopAll();
  await stopAll();
  await rm(temporary, { recursive: true, force: true });
  console.log(set.print(results));
  if (json !== undefined) {
    await writeFile(json, `${JSON.stringify(results, null, 2)}\n`);
  }
  process.exit();
}

/** @param {string[] | undefined} names all when undefined */
function choose(known, names = Object.keys(known)) {
  const unknown = names.filter((name) => !(name in known));
  if (unknown.length > 0) {
    const all = Object.keys(known).join(', ');
    throw new Error(`Nothing is called ${unknown.join(', ')}. There are: ${all}.`);
  }
  return Object.entries(known).filter(([name]) => names.includes(name));
}

/** @param {object[]} results gets each group's once it is measured */
async function measure(temporary, groups, signal, results) {
  const own = await openDatabase();
  try {
    const settings = Object.entries(numbers).map(([name, text]) => [name, Number(text)]);
    const context = {
      ...Object.fromEntries(settings),
      directory: temporary,
      databaseUrl: own.url,
      dist: resolve(dist),
    };
    await migrate(context);
    printConditions(own, context);
    for (const [name, measureGroup] of groups) {
      if (signal.aborted) {
        return;
      }
      console.error(`measuring ${name} …`);
      try {
        results.push(...(await measureGroup(context)).map((result) => ({ name, ...result })));
      } catch (error) {
        console.error(`${name} broke:`, error);
        process.exitCode = 1;
      }
      await stopAll();
    }
  } finally {
    await stopAll();
    await own.close();
  }
}

function printConditions({ description }, context) {
  const environment = { ...gatehouseEnvironment(context), SERVICE_MASTER_SECRET: '(random)' };
  const lines = Object.entries(environment).map(([name, value]) => `  ${name}=${value}\n`);
  console.log(`Node ${process.version}, ${availableParallelism()} CPUs (${cpus()[0]?.model.trim()})
PostgreSQL: ${description}
${set.howOften(context)}
Gatehouse runs with:
${lines.join('')}`);
}
