import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseJson } from '../../../common/parse-json.js';
import {
  changedAt,
  ifExists,
  makePrivateDirectory,
  namesIn,
  readIfExists,
  readJsonIfExists,
  removeAbandonedFiles,
  syncDirectory,
  userDirectory,
  writePrivateFile,
} from '../../../common/private-files.js';
import { isRecord } from '../../../core/protocol/is-record.js';
import type { ProgramCredentials } from '../../../packages/client/programs/program-routes.js';
import { type CliError, configurationError, usageError } from '../cli-error.js';
import { withFileLock } from '../file-lock.js';

/** The access of one program. It names its server, so that its user needs no login. */
export interface ProgramFile extends ProgramCredentials {
  readonly server: string;
  readonly accountId: string;
  /** The id of the grant. */
  readonly id: string;
}

/** Also the name of a file, on each operating system. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const ENDING = '.json';
const OF_OTHERS = 0o077;
const FIELDS = ['server', 'accountId', 'id', 'clientId', 'refreshToken'] as const;

/** Files of the programs of this computer, in private files that are replaced as a whole. */
export class ProgramFiles {
  private readonly directory: string;

  constructor(environment: Readonly<Record<string, string | undefined>>) {
    this.directory = join(userDirectory('config', environment), 'programs');
  }

  /** @throws CliError (usage) for a name that no program of this computer can have */
  path(name: string): string {
    if (!NAME.test(name)) {
      throw usageError('The name must be 1 to 64 letters, digits, dots, hyphens or underscores.');
    }
    return join(this.directory, `${name}${ENDING}`);
  }

  /** @throws CliError (configuration) for a file that is damaged, or that others can read or write */
  async read(name: string): Promise<ProgramFile | null> {
    const path = this.path(name);
    const mode = await ifExists<number | null>(async () => (await stat(path)).mode, null);
    if (mode !== null && (mode & OF_OTHERS) !== 0 && process.platform !== 'win32') {
      throw unusable(
        `Other users of this computer can use ${path}.`,
        `If none has read it: chmod 600 ${path}\n  Else end the program, and add it again.`,
      );
    }
    const text = await readIfExists(path);
    const file = text === null ? null : readFields(parseJson(text));
    if (text !== null && file === null) {
      throw unusable(`${path} is damaged.`, 'Remove it, and add the program again.');
    }
    return file;
  }

  /** Runs changes of one file one after the other. */
  async locked<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const path = this.path(name);
    await makePrivateDirectory(this.directory);
    return withFileLock(path, work);
  }

  /** The file survives a power failure: with an older token, the server would end the access. */
  async save(name: string, file: ProgramFile): Promise<void> {
    const path = this.path(name);
    await writePrivateFile(path, `${JSON.stringify(file, null, 2)}\n`);
    await syncDirectory(this.directory);
    await removeAbandonedFiles(this.directory, await changedAt(path));
  }

  /** Removes the file of a grant that has ended, if this computer has it. */
  async removeOf(server: string, id: string): Promise<void> {
    const names = await namesIn(this.directory);
    for (const name of names.filter((one) => one.endsWith(ENDING))) {
      const path = join(this.directory, name);
      const file = readFields(await readJsonIfExists(path));
      if (file?.server === server && file.id === id) {
        await rm(path, { force: true });
      }
    }
  }
}

function readFields(value: unknown): ProgramFile | null {
  return isRecord(value) && FIELDS.every((name) => typeof value[name] === 'string')
    ? (value as unknown as ProgramFile)
    : null;
}

function unusable(message: string, hint: string): CliError {
  return configurationError(message, 'unusable-file', hint);
}
