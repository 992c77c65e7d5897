import { readFile, stat } from 'node:fs/promises';
import { CliError } from './cli-error.js';
import { EXIT } from './exit-codes.js';

/** Larger than anything a command is given. */
export const MOST_GIVEN_BYTES = 16 * 1024 * 1024;

/**
 * The bytes of a file that somebody named on the command line.
 *
 * @throws CliError (usage) where it cannot be read, or is larger than 16 MiB
 */
export async function readGivenFile(path: string): Promise<Buffer> {
  try {
    const { size } = await stat(path);
    if (size <= MOST_GIVEN_BYTES) {
      return await readFile(path);
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    throw unusable(`${path} cannot be read (${code}).`);
  }
  throw unusable(`${path} is larger than 16 MiB.`);
}

/**
 * The signing secret of --secret-file, --secret or the environment; null where there is none.
 *
 * @throws CliError (usage) where one was given and is empty: nobody who gives one wants to go without
 */
export async function givenSecret(
  { secret, secretFile }: { readonly secret?: string; readonly secretFile?: string },
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  const given =
    secretFile === undefined ? secret : (await readGivenFile(secretFile)).toString('utf8').trim();
  if (given === '') {
    throw unusable('The signing secret is empty.');
  }
  return (given ?? environment['GATEHOUSE_WEBHOOK_SECRET']) || null;
}

function unusable(message: string): CliError {
  return new CliError(message, { exitCode: EXIT.usage, code: 'usage' });
}
