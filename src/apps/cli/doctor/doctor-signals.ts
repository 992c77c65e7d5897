import { resolveSettings } from '../../../server/config/resolve-settings.js';
import { EXIT } from '../cli-error.js';
import type { CliContext } from '../command.js';
import { withDatabase } from '../operator/database.js';
import { variablesToCheck } from '../server/config-report.js';
import { describeResult } from './check-result.js';
import { checkSignals } from './signal-checks.js';

/** Exits with 1 if a check failed. */
export async function run(context: CliContext<{ readonly file?: string }>): Promise<number> {
  const environment = variablesToCheck(context);
  const { settings } = resolveSettings(environment);
  const checks = await withDatabase({ ...context, environment }, ({ database }) =>
    checkSignals(database, settings),
  );
  const ok = checks.every(({ status }) => status !== 'failed');
  context.output.result({ ok, checks }, checks.map(describeResult).join('\n'));
  return ok ? EXIT.ok : EXIT.refused;
}
