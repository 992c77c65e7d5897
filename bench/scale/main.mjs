import { parseArgs } from 'node:util';
import { choose, runGroups } from '../run.mjs';
import { group as accounts } from './accounts.mjs';
import { group as acts } from './acts.mjs';
import { group as directory } from './directory.mjs';
import { group as rechecks } from './rechecks.mjs';
import { group as replicas } from './replicas.mjs';
import { group as sockets } from './sockets.mjs';
import { growthTables } from './table.mjs';

const GROUPS = [accounts, sockets, replicas, acts, rechecks, directory];

/** Past this the run is given up as broken. */
const DEADLINE_MS = 900_000;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    most: { type: 'string', default: '1000000' },
    json: { type: 'string' },
    dist: { type: 'string', default: 'dist' },
    seconds: { type: 'string', default: '3' },
    help: { type: 'boolean', default: false },
  },
});

if (options.help) {
  console.log(`npm run bench:scale -- [--only NAME]... [--most N] [--json FILE] [--dist DIR] [--seconds N]
NAME is one of ${GROUPS.map((group) => group.name).join(', ')}; no size is above N.`);
} else {
  await runGroups(choose(GROUPS, options.only), options, {
    settings: { most: Number(options.most), seconds: Number(options.seconds) },
    howOften: `Requests are loaded for ${options.seconds} s a size, after a warm-up`,
    deadlineMs: DEADLINE_MS,
    print: growthTables,
  });
}
