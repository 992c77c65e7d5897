/** A problem that the operator must correct. The message never contains a secret. */
export interface ConfigurationProblem {
  readonly variable: string;
  readonly message: string;
}

export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';

  constructor(
    readonly problems: readonly ConfigurationProblem[],
    readonly warnings: readonly string[] = [],
  ) {
    const lines = problems.map(({ variable, message }) => `  ${variable}: ${message}`);
    const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
    super(`The configuration has ${count}:\n${lines.join('\n')}`);
  }
}

/** @throws ConfigurationError with the problems of all checks, or the first other error */
export async function allChecked<Checks extends readonly unknown[] | []>(
  checks: Checks,
): Promise<{ -readonly [Index in keyof Checks]: Awaited<Checks[Index]> }> {
  const problems: ConfigurationProblem[] = [];
  for (const result of await Promise.allSettled(checks)) {
    if (result.status === 'rejected') {
      if (!(result.reason instanceof ConfigurationError)) {
        throw result.reason;
      }
      problems.push(...result.reason.problems);
    }
  }
  if (problems.length > 0) {
    throw new ConfigurationError(problems);
  }
  return Promise.all(checks);
}

export class ConfigurationReport {
  readonly problems: ConfigurationProblem[] = [];
  readonly warnings: string[] = [];

  problem(variable: string, message: string): void {
    this.problems.push({ variable, message });
  }

  problemOnce(variable: string, message: string): void {
    if (!this.has(variable)) {
      this.problem(variable, message);
    }
  }

  warn(message: string): void {
    this.warnings.push(message);
  }

  has(variable: string): boolean {
    return this.problems.some((problem) => problem.variable === variable);
  }
}
