import { userInfo } from 'node:os';
import { toOperatorName, type OperatorName } from '../policy/audit-actor.js';
import { CliError } from './cli-error.js';
import type { CliContext } from './context.js';
import { EXIT } from './exit-codes.js';

/**
 * The name that the audit trail keeps of who gave a command: `--actor`, by default the system's user.
 *
 * @throws CliError `usage` (exit code 2) when that is not a name that the audit trail takes
 */
export function operatorName({ options }: CliContext): OperatorName {
  const text = options.actor ?? systemUser();
  const name = text === null ? null : toOperatorName(text);
  if (name === null) {
    throw new CliError(
      options.actor === undefined
        ? 'The user of this system has no name that the audit trail takes: give one with --actor.'
        : '--actor must be 1 to 64 printable characters, and not user, system or provider.',
      { exitCode: EXIT.usage, code: 'usage' },
    );
  }
  return name;
}

/** null where the user's id has no entry, as in a container that runs with an arbitrary one. */
function systemUser(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}
