import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gatehouseEnvironment, migrate } from './gatehouse.mjs';
import { openDatabase } from './postgres.mjs';
import { stopAll } from './processes.mjs';
import { markdownTable } from './report.mjs';
import { group as admin } from './rows/admin.mjs';
import { group as authenticationSql } from './rows/authentication-sql.mjs';
import { group as features } from './rows/features.mjs';
import { group as login } from './rows/login.mjs';
import { group as notify } from './rows/notify.mjs';
import { group as notifyCli } from './rows/notify-cli.mjs';
import { group as mtls } from './rows/mtls.mjs';
import { group as pushTokens } from './rows/push-tokens.mjs';
import { group as requiredProvider } from './rows/required-provider.mjs';
import { group as settings } from './rows/settings.mjs';
import { group as startup } from './rows/startup.mjs';
import { group as updates } from './rows/updates.mjs';

/** One entry a file of `rows/`: this list is the whole registry. */
const GROUPS = [
  features,
  pushTokens,
  login,
  mtls,
  updates,
  authenticationSql,
  requiredProvider,
  settings,
  notify,
  notifyCli,
  startup,
  admin,
];

/** Past this the run is given up as broken. */
const DEADLINE_MS = 600_000;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    json: { type: 'string' },
    dist: { type: 'string', default: 'dist' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    help: { type: 'boolean', default: false },
  },
});

if (options.help) {
  console.log(`npm run bench -- [--only NAME]... [--json FILE] [--dist DIR] [--rounds N] [--seconds N]
NAME is one of ${GROUPS.map((group) => group.name).join(', ')}.`);
} else {
  setTimeout(() => void fail(new Error('The bench took too long.')), DEADLINE_MS).unref();
  await run().catch(fail);
}

async function run() {
  const chosen = choose(options.only);
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-bench-'));
  const database = await openDatabase(directory);
  try {
    const context = {
      directory,
      databaseUrl: database.url,
      dist: resolve(options.dist),
      rounds: Number(options.rounds),
      seconds: Number(options.seconds),
    };
    await migrate(context);
    printConditions(database, context);
    const results = [];
    for (const group of chosen) {
      console.error(`measuring ${group.name} …`);
      try {
        results.push(...(await group.run(context)));
      } catch (error) {
        console.error(`${group.name} broke:`, error);
        process.exitCode = 1;
        await stopAll();
      }
    }
    console.log(markdownTable(results));
    if (options.json !== undefined) {
      await writeFile(options.json, `${JSON.stringify(results, null, 2)}\n`);
    }
  } finally {
    await stopAll();
    await database.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** @param {string[] | undefined} names */
function choose(names) {
  const known = GROUPS.map((group) => group.name);
  const unknown = (names ?? []).filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Error(`No row is called ${unknown.join(', ')}. There are: ${known.join(', ')}.`);
  }
  return GROUPS.filter((group) => names === undefined || names.includes(group.name));
}

function printConditions(database, context) {
  const environment = { ...gatehouseEnvironment(context), SERVICE_MASTER_SECRET: '(random)' };
  console.log(`Node ${process.version}, ${availableParallelism()} CPUs (${cpus()[0]?.model.trim()})
PostgreSQL: ${database.description}
${context.rounds} rounds of ${context.seconds} s a side, limit and Gatehouse in turn, after a warm-up
Gatehouse runs with:`);
  for (const [name, value] of Object.entries(environment)) {
    console.log(`  ${name}=${value}`);
  }
  console.log('');
}

/** @param {Error} error */
async function fail(error) {
  console.error(error);
  await stopAll();
  process.exit(1);
}
