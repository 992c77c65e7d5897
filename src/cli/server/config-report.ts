import { parseEnv } from 'node:util';
import { ConfigurationError, ConfigurationReport } from '../../config/configuration-error.js';
import {
  gatherTexts,
  readSmallFile,
  type EnvironmentText,
} from '../../config/environment-sources.js';
import { readValues } from '../../config/environment/read-values.js';
import { VARIABLE_NAMES, variableOf, type VariableName } from '../../config/environment/env.js';
import { printableProviders } from '../../config/providers-file/printable-providers.js';
import { resolveSettings, type ResolvedConfiguration } from '../../config/resolve-settings.js';
import type { Settings } from '../../config/settings.js';
import { admissionTable } from '../../policy/admission/admission.js';
import type { LockoutFinding } from '../../policy/findings/lockout.js';
import { describePolicy } from '../../policy/findings/describe-policy.js';
import type { CliContext } from '../command.js';
import { EXIT, usageError } from '../cli-error.js';

type Context = CliContext<{ readonly file?: string }>;
type CheckContext = CliContext<{ readonly file?: string; readonly online?: boolean }>;

/**
 * The variables that a command examines: those of this process, or of --file alone, so that the
 * result does not depend on the shell.
 */
export function variablesToCheck({ environment, options }: Context): CliContext['environment'] {
  if (options.file === undefined) {
    return environment;
  }
  const file = readSmallFile(options.file);
  if ('failure' in file) {
    throw usageError(`--file names a file that ${file.failure}.`);
  }
  return { ...parseEnv(file.text) };
}

/**
 * Checks the configuration exactly as the start of the server does, without network unless --online.
 * Exits with 78 where the server would not start, with 1 where it would and a finding is an error.
 */
export async function check(context: CheckContext): Promise<number> {
  const resolved = resolveOrExplain(variablesToCheck(context));
  if (resolved instanceof ConfigurationError) {
    const { problems, warnings, message } = resolved;
    context.output.result(
      { ok: false, problems, warnings, findings: [], policy: [] },
      [message, ...section('Warnings', warnings)].join('\n'),
    );
    return EXIT.configuration;
  }
  const { settings, warnings } = resolved;
  const online = context.options.online === true ? await askProviders(settings) : [];
  const findings = [...resolved.findings, ...online];
  const policy = describePolicy(settings);
  const of = (severity: LockoutFinding['severity']): string[] =>
    findings.flatMap((finding) => (finding.severity === severity ? [finding.message] : []));
  const errors = of('error');
  const ok = errors.length === 0;
  context.output.result(
    { ok, problems: [], warnings, findings, policy, admission: admissionTable(settings) },
    [
      `${ok ? 'The configuration is valid.' : 'The server would start, and not do what is configured.'} The policy:`,
      ...policy.map((sentence) => `  ${sentence}`),
      ...section('Errors', errors),
      ...section('Probably not intended', of('warning')),
      ...section('Before older clients connect', of('notice')),
      ...section('Warnings', warnings),
    ].join('\n'),
  );
  return ok ? EXIT.ok : EXIT.refused;
}

/** Steps that succeeded are no findings. */
async function askProviders(settings: Settings): Promise<LockoutFinding[]> {
  const { diagnoseProviders } = await import('../../providers/provider-diagnosis.js');
  const steps = await diagnoseProviders(settings);
  return steps.flatMap(({ provider, step, severity, message }) =>
    severity === 'ok'
      ? []
      : [{ severity, code: `provider-${step}`, message: `${provider}: ${message}.` }],
  );
}

function resolveOrExplain(
  environment: EnvironmentText,
): ResolvedConfiguration | ConfigurationError {
  try {
    return resolveSettings(environment);
  } catch (error) {
    if (error instanceof ConfigurationError) {
      return error;
    }
    throw error;
  }
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)];
}

type Source = 'default' | 'environment' | 'file' | 'preset';

interface PrintedVariable {
  readonly value: unknown;
  readonly source: Source;
}

/** Prints the effective value of every variable and where it comes from; never a secret. */
export function print(context: Context): void {
  const environment = variablesToCheck(context);
  const { settings } = resolveSettings(environment);
  const variables = printedVariables(environment, settings);
  const providers = printableProviders(settings.providers);
  const lines = Object.entries(variables).map(
    ([name, { value, source }]) => `${name}=${toText(value)}  (${source})`,
  );
  const ids = providers.map(
    ({ id, type, displayName }) => `provider ${id}  ${type}  ${displayName}`,
  );
  context.output.result({ variables, providers }, [...lines, ...ids].join('\n'));
}

function printedVariables(
  environment: EnvironmentText,
  settings: Settings,
): Record<string, PrintedVariable> {
  // `resolveSettings` has reported all problems already.
  const report = new ConfigurationReport();
  const texts = gatherTexts(environment, report);
  const values: Partial<Record<VariableName, unknown>> = {
    ...readValues(texts, report),
    // Its default depends on other variables.
    AUTH_OFFBOARDING_ENABLED: settings.auth.offboarding.enabled,
  };
  const presence = (name: VariableName) => (texts.has(name) ? 'set' : 'not set');
  const print = (name: VariableName): PrintedVariable => ({
    value: variableOf(name).secret === true ? presence(name) : withoutUserInfo(values[name]),
    source: texts.has(name) ? sourceOf(environment, name) : 'default',
  });
  return Object.fromEntries(VARIABLE_NAMES.map((name) => [name, print(name)]));
}

/** The address of a proxy may hold a name and a password. */
function withoutUserInfo(value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/^(https?:\/\/)[^/@]*@/i, '$1') : value;
}

function sourceOf(environment: EnvironmentText, name: string): Source {
  if ((environment[name] ?? '') !== '') {
    return 'environment';
  }
  return (environment[`${name}_FILE`] ?? '') === '' ? 'preset' : 'file';
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
