/** One thing the operator has to correct. The message never holds the value of a secret. */
export interface ConfigurationProblem {
  readonly variable: string;
  readonly message: string;
}

/** Everything that is wrong with the configuration, at once; the process exits with 78 on it. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';

  constructor(
    readonly problems: readonly ConfigurationProblem[],
    /** What would have been warned of beside the problems. */
    readonly warnings: readonly string[] = [],
  ) {
    const lines = problems.map(({ variable, message }) => `  ${variable}: ${message}`);
    super(`The configuration has ${countOf(problems)}:\n${lines.join('\n')}`);
  }
}

/** Collects problems and warnings while the configuration is read, in the order they are found. */
export class ConfigurationReport {
  readonly problems: ConfigurationProblem[] = [];
  readonly warnings: string[] = [];

  problem(variable: string, message: string): void {
    this.problems.push({ variable, message });
  }

  /** Reports a problem, unless one of this variable was already found. */
  problemOnce(variable: string, message: string): void {
    if (!this.has(variable)) {
      this.problem(variable, message);
    }
  }

  warn(message: string): void {
    this.warnings.push(message);
  }

  /** Whether a problem of this variable was already found: each mistake is reported once. */
  has(variable: string): boolean {
    return this.problems.some((problem) => problem.variable === variable);
  }
}

function countOf(problems: readonly ConfigurationProblem[]): string {
  return problems.length === 1 ? 'one problem' : `${problems.length} problems`;
}
