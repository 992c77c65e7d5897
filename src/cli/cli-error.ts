export interface CliErrorFacts {
  readonly exitCode: number;
  /** What programs read with --json. */
  readonly code: string;
  /** What to do next, as a sentence. */
  readonly hint?: string;
}

/** An outcome that a command cannot go on from, and that is no server's refusal. */
export class CliError extends Error {
  override readonly name = 'CliError';

  constructor(
    message: string,
    readonly facts: CliErrorFacts,
  ) {
    super(message);
  }
}
