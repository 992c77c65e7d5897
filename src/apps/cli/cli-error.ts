/** Exit codes; scripts may rely on them. */
export const EXIT = {
  ok: 0,
  refused: 1,
  usage: 2,
  notLoggedIn: 3,
  /** Only of `migrate --check`. */
  migrationsPending: 3,
  unreachable: 4,
  /** `EX_CONFIG` of sysexits.h. */
  configuration: 78,
} as const;

export const EXIT_HELP = `
Exit codes:
  0   done
  1   the server refused, or something else failed
  2   invalid command, option or argument
  3   not signed in, or the session or the access of the program has ended;
      migrate --check: migrations are pending
  4   the server (or the database) is unreachable or not ready: try again
  78  the configuration is invalid
`;

export interface CliErrorFacts {
  readonly exitCode: number;
  /** Machine-readable code of the output with --json. */
  readonly code: string;
  readonly hint?: string | undefined;
}

/** The refusal of a person by a server. */
export interface RefusalFacts {
  readonly provider?: string | undefined;
  readonly accountId?: string | undefined;
  /** Why the provider does not confirm the person, as in the profile. */
  readonly reason?: string | undefined;
}

/** A failure that ends a command, other than a refusal by a server. */
export class CliError extends Error {
  override readonly name = 'CliError';

  constructor(
    message: string,
    readonly facts: CliErrorFacts & RefusalFacts,
  ) {
    super(message);
  }
}

export function usageError(message: string, hint?: string): CliError {
  return new CliError(message, { exitCode: EXIT.usage, code: 'usage', hint });
}

const errorWith = (exitCode: number) => (message: string, code: string, hint?: string) =>
  new CliError(message, { exitCode, code, hint });

export const refusedError = errorWith(EXIT.refused);
export const notLoggedInError = errorWith(EXIT.notLoggedIn);
export const unreachableError = errorWith(EXIT.unreachable);
export const configurationError = errorWith(EXIT.configuration);
