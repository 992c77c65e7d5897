import { rm, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  changedAt,
  ifExists,
  makePrivateDirectory,
  namesIn,
  removeOldFiles,
  renameIfExists,
} from '../../../common/private-files.js';

/** As the records of ended deliveries. */
const KEPT_MS = 7 * 24 * 60 * 60_000;

/** Files of a spool that could not be read, and whose content was therefore not sent. */
export class DamagedFiles {
  /** Paths of the files that this process found. */
  readonly found: string[] = [];

  constructor(
    readonly directory: string,
    private readonly limit: number,
  ) {}

  /** Moves the file here, as `name`. */
  async add(path: string, now: number, name = basename(path)): Promise<void> {
    await makePrivateDirectory(this.directory);
    const file = join(this.directory, name);
    // Its time is that of its discovery: a computer may have been off for weeks.
    await ifExists(() => utimes(path, now / 1_000, now / 1_000), undefined);
    this.found.push(...((await renameIfExists(path, file)) ? [file] : []));
    await this.tidy(now);
  }

  names(): Promise<readonly string[]> {
    return namesIn(this.directory);
  }

  async tidy(now: number): Promise<void> {
    await removeOldFiles(this.directory, now - KEPT_MS);
    const paths = (await this.names()).map((name) => join(this.directory, name));
    if (paths.length > this.limit) {
      const aged = paths.map(async (path) => ({ path, at: await changedAt(path) }));
      const sorted = (await Promise.all(aged)).sort((one, other) => other.at - one.at);
      await Promise.all(sorted.slice(this.limit).map(({ path }) => rm(path, { force: true })));
    }
  }
}
