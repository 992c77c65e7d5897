import { Timers } from '../../common/runtime/timers.js';
import type { Settings } from '../../config/settings.js';
import type { CliContext } from '../command.js';
import { EXIT } from '../cli-error.js';
import { variablesToCheck } from '../server/config-report.js';
import { describeResult, resultsOf, runWithin, type CheckResult } from './check-result.js';
import { checkDatabase, checkDisk } from './database-checks.js';
import {
  checkConfiguration,
  checkExpiries,
  checkProviders,
  checkRedis,
} from './dependency-checks.js';

interface Check {
  readonly name: string;
  /** Shown before a check that can take seconds. */
  readonly progress?: string;
  readonly run: (settings: Settings) => Promise<readonly CheckResult[]>;
}

const CHECKS: readonly Check[] = [
  { name: 'database', progress: 'Checking the database.', run: checkDatabase },
  { name: 'disk', run: checkDisk },
  { name: 'redis', progress: 'Checking Redis.', run: checkRedis },
  { name: 'expiry', run: checkExpiries },
  { name: 'providers', progress: 'Asking the identity providers.', run: checkProviders },
];

const LIMIT_MS = 60_000;

/** Exits with 1 if a check failed, and with 78 if the configuration is invalid. */
export async function run(context: CliContext<{ readonly file?: string }>): Promise<number> {
  const { output } = context;
  const results: CheckResult[] = [];
  const add = (found: readonly CheckResult[]): void => {
    results.push(...found);
    if (!output.isJson) {
      found.forEach((result) => output.result(result, describeResult(result)));
    }
  };
  const { settings, results: found } = checkConfiguration(variablesToCheck(context));
  add(found);
  const timers = new Timers();
  for (const { name, progress, run: check } of CHECKS) {
    if (settings === null) {
      add([resultsOf(name).skipped('The configuration is invalid.')]);
      continue;
    }
    if (progress !== undefined) {
      output.note(progress);
    }
    add(await runWithin(LIMIT_MS, name, () => check(settings), timers));
  }
  const countOf = (status: CheckResult['status']): number =>
    results.filter((result) => result.status === status).length;
  const failed = countOf('failed');
  const summary = `${failed} failed, ${countOf('warning')} warnings, ${countOf('skipped')} not checked.`;
  output.result({ ok: failed === 0, checks: results }, summary);
  if (settings === null) {
    return EXIT.configuration;
  }
  return failed === 0 ? EXIT.ok : EXIT.refused;
}
