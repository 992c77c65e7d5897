import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gatehouseEnvironment, migrate } from './gatehouse.mjs';
import { openDatabase, stopClusters } from './postgres.mjs';
import { stopAll } from './processes.mjs';

/**
 * Runs groups one after the other on a database of their own, and prints what they returned. Ends the
 * program, and every process that it started, whatever happens.
 *
 * @param {{name: string, run: (context: object) => Promise<object[]>}[]} groups those chosen
 * @param {{dist: string, json?: string}} options
 * @param {{settings: object, howOften: string, deadlineMs: number, print: (results: object[]) => string}} how
 *   `settings` become part of the context, `howOften` is printed with the conditions; past
 *   `deadlineMs` the run is given up as broken
 */
export async function runGroups(groups, options, how) {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-bench-'));
  const tooLong = sleep(how.deadlineMs, 'The bench took too long.', { ref: false });
  const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  const givenUp = Promise.race([tooLong, interrupted.then(() => 'The bench was interrupted.')]);
  const end = new AbortController();
  const fail = (reason) => {
    end.abort();
    throw new Error(reason);
  };
  try {
    await Promise.race([measure(directory, groups, options, how, end.signal), givenUp.then(fail)]);
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  }
  await stopAll();
  await stopClusters();
  // The group that was given up may have started one more.
  await stopAll();
  await rm(directory, { recursive: true, force: true });
  process.exit();
}

/** @param {{name: string}[]} groups @param {string[] | undefined} names all when undefined */
export function choose(groups, names) {
  const known = groups.map((group) => group.name);
  const unknown = (names ?? []).filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Error(`No row is called ${unknown.join(', ')}. There are: ${known.join(', ')}.`);
  }
  return groups.filter((group) => names === undefined || names.includes(group.name));
}

async function measure(directory, groups, options, { settings, howOften, print }, signal) {
  const database = await openDatabase(directory);
  try {
    const dist = resolve(options.dist);
    const context = { directory, databaseUrl: database.url, dist, ...settings };
    await migrate(context);
    printConditions(database, context, howOften);
    const results = [];
    for (const group of groups) {
      if (signal.aborted) {
        return;
      }
      console.error(`measuring ${group.name} …`);
      try {
        results.push(...(await group.run(context)));
      } catch (error) {
        console.error(`${group.name} broke:`, error);
        process.exitCode = 1;
      }
      await stopAll();
    }
    console.log(print(results));
    if (options.json !== undefined) {
      await writeFile(options.json, `${JSON.stringify(results, null, 2)}\n`);
    }
  } finally {
    await stopAll();
    await database.close();
  }
}

function printConditions(database, context, howOften) {
  const environment = { ...gatehouseEnvironment(context), SERVICE_MASTER_SECRET: '(random)' };
  console.log(`Node ${process.version}, ${availableParallelism()} CPUs (${cpus()[0]?.model.trim()})
PostgreSQL: ${database.description}
${howOften}
Gatehouse runs with:`);
  for (const [name, value] of Object.entries(environment)) {
    console.log(`  ${name}=${value}`);
  }
  console.log('');
}
