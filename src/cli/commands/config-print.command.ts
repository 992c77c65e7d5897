import { ConfigurationReport } from '../../config/configuration-error.js';
import { gatherTexts, type EnvironmentText } from '../../config/environment-sources.js';
import { readValues } from '../../config/environment-values.js';
import { VARIABLE_NAMES, variableOf, type VariableName } from '../../config/env.js';
import { printableSettings } from '../../config/printable-settings.js';
import { resolveSettings } from '../../config/resolve-settings.js';
import type { Settings } from '../../config/settings.js';
import type { CliContext } from '../context.js';
import { environmentToCheck } from '../environment-file.js';
import { EXIT } from '../exit-codes.js';

type Source = 'default' | 'environment' | 'file' | 'preset';

interface PrintedVariable {
  readonly value: unknown;
  readonly source: Source;
}

/** Shows the value every variable has in effect and where it comes from; never a secret. */
export function run(context: CliContext): number {
  const environment = environmentToCheck(context);
  const { settings } = resolveSettings(environment);
  const variables = printedVariables(environment, settings);
  const { providers } = printableSettings(settings);
  const lines = Object.entries(variables).map(
    ([name, { value, source }]) => `${name}=${toText(value)}  (${source})`,
  );
  const ids = providers.map(
    ({ id, type, displayName }) => `provider ${id}  ${type}  ${displayName}`,
  );
  context.output.result({ variables, providers }, [...lines, ...ids].join('\n'));
  return EXIT.ok;
}

function printedVariables(
  environment: EnvironmentText,
  settings: Settings,
): Record<string, PrintedVariable> {
  // Whatever there is to report, resolving has reported.
  const report = new ConfigurationReport();
  const texts = gatherTexts(environment, report);
  const values = { ...readValues(texts, report), ...workedOut(settings) };
  const print = (name: VariableName): PrintedVariable => ({
    value: variableOf(name).secret === true ? presence(texts.has(name)) : values[name],
    source: texts.has(name) ? sourceOf(environment, name) : 'default',
  });
  return Object.fromEntries(VARIABLE_NAMES.map((name) => [name, print(name)]));
}

/** Variables whose default depends on others. */
function workedOut({ auth }: Settings): Partial<Record<VariableName, unknown>> {
  return { AUTH_OFFBOARDING_ENABLED: auth.offboarding.enabled };
}

function sourceOf(environment: EnvironmentText, name: string): Source {
  if ((environment[name] ?? '') !== '') {
    return 'environment';
  }
  return (environment[`${name}_FILE`] ?? '') === '' ? 'preset' : 'file';
}

function presence(isSet: boolean): string {
  return isSet ? 'set' : 'not set';
}

function toText(value: unknown): string {
  if (value === null) {
    return '';
  }
  if (Array.isArray(value)) {
    return value.join(',');
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}
