import { parseArgs } from 'node:util';
import { markdownTable } from './report.mjs';
import { group as admin } from './rows/admin.mjs';
import { group as ask } from './rows/ask.mjs';
import { group as authenticationSql } from './rows/authentication-sql.mjs';
import { group as features } from './rows/features.mjs';
import { group as guard } from './rows/guard.mjs';
import { group as login } from './rows/login.mjs';
import { group as notify } from './rows/notify.mjs';
import { group as notifyCli } from './rows/notify-cli.mjs';
import { group as mtls } from './rows/mtls.mjs';
import { group as pushTokens } from './rows/push-tokens.mjs';
import { group as requests } from './rows/requests.mjs';
import { group as requiredProvider } from './rows/required-provider.mjs';
import { group as resourceServers } from './rows/resource-servers.mjs';
import { group as revocations } from './rows/revocations.mjs';
import { group as settings } from './rows/settings.mjs';
import { group as startup } from './rows/startup.mjs';
import { group as updates } from './rows/updates.mjs';
import { choose, runGroups } from './run.mjs';

/** One entry a file of `rows/`: this list is the whole registry. */
const GROUPS = [
  features,
  pushTokens,
  login,
  mtls,
  updates,
  authenticationSql,
  requiredProvider,
  resourceServers,
  guard,
  revocations,
  requests,
  settings,
  notify,
  notifyCli,
  ask,
  startup,
  admin,
];

/** Past this the run is given up as broken. */
const DEADLINE_MS = 900_000;

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
  const { rounds, seconds } = options;
  await runGroups(choose(GROUPS, options.only), options, {
    settings: { rounds: Number(rounds), seconds: Number(seconds) },
    howOften: `${rounds} rounds of ${seconds} s a side, limit and Gatehouse in turn, after a warm-up`,
    deadlineMs: DEADLINE_MS,
    print: markdownTable,
  });
}
