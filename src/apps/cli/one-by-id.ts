import { refusedError, usageError } from './cli-error.js';

/** A shorter beginning could be that of a row which was added meanwhile. */
const MIN_ID_LENGTH = 4;

/**
 * Finds the row whose id begins as a person typed it.
 *
 * @param noun for the messages, in the singular
 * @param list the command that shows the ids
 * @throws CliError (usage) for less than four characters or for more rows than one; `not-found`
 */
export function oneById<Row extends { readonly id: string }>(
  rows: readonly Row[],
  begin: string,
  noun: string,
  list: string,
): Row {
  if (begin.length < MIN_ID_LENGTH) {
    throw usageError(`Name at least ${MIN_ID_LENGTH} characters of the id.`);
  }
  const [one, another] = rows.filter(({ id }) => id.startsWith(begin));
  if (one === undefined) {
    const message = `No ${noun} has an id that begins with ${begin}.`;
    throw refusedError(message, 'not-found', `Run: ${list}`);
  }
  if (another !== undefined) {
    throw usageError(`More than one ${noun} has an id that begins with ${begin}.`);
  }
  return one;
}
