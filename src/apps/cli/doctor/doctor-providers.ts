import { resolveSettings } from '../../../server/config/resolve-settings.js';
import {
  diagnoseProviders,
  type ProviderDiagnosis,
} from '../../../server/providers/provider-diagnosis.js';
import type { CliContext } from '../command.js';
import { EXIT } from '../cli-error.js';
import { variablesToCheck } from '../server/config-report.js';

export async function run(context: CliContext<{ readonly file?: string }>): Promise<number> {
  const { settings } = resolveSettings(variablesToCheck(context));
  const steps = await diagnoseProviders(settings);
  const ok = steps.every(({ severity }) => severity !== 'error');
  const lines = steps.map(describe);
  context.output.result(
    { ok, steps },
    lines.length === 0 ? 'No identity provider is configured.' : lines.join('\n'),
  );
  return ok ? EXIT.ok : EXIT.refused;
}

function describe({ provider, step, severity, cause, message }: ProviderDiagnosis): string {
  const label = { ok: 'pass', warning: 'warning', error: 'fail' }[severity];
  const suffix = cause === null ? '' : `  [${cause}]`;
  return `${label.padEnd(9)}${provider.padEnd(16)}${step.padEnd(15)}${message}${suffix}`;
}
