import { ConfigurationError } from '../../config/configuration-error.js';
import { policyFacts } from '../../config/policy-facts.js';
import { resolveSettings, type ResolvedConfiguration } from '../../config/resolve-settings.js';
import { describePolicy } from '../../policy/deployment-words.js';
import type { CliContext } from '../context.js';
import { environmentToCheck } from '../environment-file.js';
import { EXIT } from '../exit-codes.js';

/** Judges the configuration exactly as the start of the server does, without network. */
export function run(context: CliContext): number {
  const resolved = resolveOrExplain(environmentToCheck(context));
  if (resolved instanceof ConfigurationError) {
    const { problems, warnings, message } = resolved;
    context.output.result(
      { ok: false, problems, warnings, findings: [], policy: [] },
      [message, ...section('Warnings', warnings)].join('\n'),
    );
    return EXIT.configuration;
  }
  const { settings, warnings, findings } = resolved;
  const policy = describePolicy(policyFacts(settings));
  const notices = findings.filter(({ severity }) => severity === 'notice');
  const found = findings
    .filter(({ severity }) => severity !== 'notice')
    .map(({ severity, message }) => `${severity}: ${message}`);
  context.output.result(
    { ok: true, problems: [], warnings, findings, policy },
    [
      'The configuration is valid. What it means:',
      ...policy.map((sentence) => `  ${sentence}`),
      ...section('Probably not what was meant', found),
      ...section(
        'Before older clients meet it',
        notices.map(({ message }) => message),
      ),
      ...section('Warnings', warnings),
    ].join('\n'),
  );
  return EXIT.ok;
}

function resolveOrExplain(
  environment: Readonly<Record<string, string | undefined>>,
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
