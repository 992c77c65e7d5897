import { parseEnv } from 'node:util';
import { readSmallFile } from '../config/read-file.js';
import { CliError } from './cli-error.js';
import type { CliContext } from './context.js';
import { EXIT } from './exit-codes.js';

/**
 * The variables a `config` command is about: this process's, or those of --file alone, so that
 * what is checked does not depend on whose shell it is checked in.
 */
export function environmentToCheck({
  environment,
  options,
}: CliContext): Readonly<Record<string, string | undefined>> {
  if (options.file === undefined) {
    return environment;
  }
  const file = readSmallFile(options.file);
  if ('failure' in file) {
    throw new CliError(`--file names a file that ${file.failure}.`, {
      exitCode: EXIT.usage,
      code: 'usage',
    });
  }
  return { ...parseEnv(file.text) };
}
