import {
  ConfigurationError,
  ConfigurationReport,
} from '../../../server/config/environment/configuration-error.js';
import { gatherTexts, readValues } from '../../../server/config/read-environment.js';
import type { EnvironmentText } from '../../../server/config/environment/variable.js';
import {
  VARIABLE_NAMES,
  variableOf,
  type VariableName,
  type Settings,
} from '../../../server/config/settings.js';
import { printableProviders } from '../../../server/config/providers-file/provider-settings.js';
import { resolveSettings } from '../../../server/config/resolve-settings.js';
import { resolveOrExplain } from '../../../server/check-configuration.js';
import { admissionTable } from '../../../core/policy/admission/admission.js';
import { findExpiries } from '../../../core/policy/findings/expiry.js';
import type { LockoutFinding } from '../../../core/policy/findings/lockout.js';
import { describePolicy } from '../../../core/policy/findings/describe-policy.js';
import type { CliContext } from '../command.js';
import { EXIT } from '../cli-error.js';
import { readVariablesFile } from '../variables-file.js';

type Context = CliContext<{ readonly file?: string }>;
type CheckContext = CliContext<{
  readonly file?: string;
  readonly online?: boolean;
  readonly allowExpired?: boolean;
}>;

/** With --file, only its variables count, so that the result does not depend on the shell. */
export function variablesToCheck({ environment, options }: Context): CliContext['environment'] {
  return options.file === undefined ? environment : readVariablesFile(options.file);
}

async function resolve(context: Context): ReturnType<typeof resolveOrExplain> {
  try {
    return await resolveOrExplain(variablesToCheck(context));
  } catch (error) {
    if (error instanceof ConfigurationError) {
      return error;
    }
    throw error;
  }
}

/** Exits with 78 if the server would not start, and with 1 if a finding is an error. */
export async function check(context: CheckContext): Promise<number> {
  const resolved = await resolve(context);
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
  const ends = await findEnds(settings);
  const findings = [...resolved.findings, ...ends, ...online];
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
      ...(ok
        ? ['Next: gatehouse doctor tries the connections that this configuration needs.']
        : []),
    ].join('\n'),
  );
  const allowed = context.options.allowExpired === true ? ends : [];
  const isRefused = findings.some((one) => one.severity === 'error' && !allowed.includes(one));
  return isRefused ? EXIT.refused : EXIT.ok;
}

/** Certificates, lists and client secrets that have expired, or end soon. */
async function findEnds(settings: Settings): Promise<LockoutFinding[]> {
  const { readExpiries } = await import('../../../server/providers/certificate/expiry.js');
  const expiries = await readExpiries(settings, () => Promise.resolve());
  return findExpiries(expiries, Date.now());
}

async function askProviders(settings: Settings): Promise<LockoutFinding[]> {
  const { diagnoseProviders } = await import('../../../server/providers/provider-diagnosis.js');
  const steps = await diagnoseProviders(settings);
  return steps.flatMap(({ provider, step, severity, message }) =>
    severity === 'ok'
      ? []
      : [
          {
            severity,
            code: `provider-${step}`,
            params: { provider },
            message: `${provider}: ${message}.`,
          },
        ],
  );
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)];
}

type Source = 'default' | 'environment' | 'file' | 'preset';

interface PrintedVariable {
  readonly value: unknown;
  readonly source: Source;
}

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

/** Removes user information: the address of a proxy may contain a name and a password. */
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
