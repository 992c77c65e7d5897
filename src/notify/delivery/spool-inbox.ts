import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '../../client/is-record.js';
import {
  changedAt,
  createPrivateFile,
  namesIn,
  readJsonIfExists,
  renameIfExists,
} from '../../common/private-files.js';
import { readSpoolEntry, spoolNameOf, spoolText, type SpoolEntry } from './spool-entry.js';
import { formatSpoolName, hasEnded, keyOf } from './spool-name.js';

const NAME = /^[\da-f]{32}\.new$/;

/**
 * What is being added to a queue, in files that are named by the key of their id alone: of several
 * processes that add one id at the same moment, one succeeds. An entry is on the disk from here on.
 */
export class SpoolInbox {
  constructor(
    private readonly queue: string,
    private readonly owner: string,
  ) {}

  /** False where the id is being added already. @throws RangeError for an entry over 64 KiB */
  enter(entry: SpoolEntry): Promise<boolean> {
    return createPrivateFile(this.path(fileOf(entry)), spoolText(entry, { addedBy: this.owner }));
  }

  /** Gives an entry its place in the queue; false where another process has done so. */
  admit({ entry, name }: { readonly entry: SpoolEntry; readonly name: string }): Promise<boolean> {
    return renameIfExists(this.path(fileOf(entry)), this.path(name));
  }

  /** Takes back what the spool turned out to have. */
  async withdraw(entries: readonly SpoolEntry[]): Promise<void> {
    await Promise.all(entries.map((entry) => rm(this.path(fileOf(entry)), { force: true })));
  }

  /** Admits, as due, what a process left here that ended, or that has not moved since `before`. */
  async adopt(now: number, before: number): Promise<void> {
    const left = (await namesIn(this.queue)).filter((name) => NAME.test(name));
    for (const file of left) {
      const value = await readJsonIfExists(this.path(file));
      const owner = isRecord(value) ? String(value['addedBy']) : '';
      const entry = readSpoolEntry(value);
      if (entry !== null && (hasEnded(owner) || (await changedAt(this.path(file))) < before)) {
        await this.admit({ entry, name: formatSpoolName(spoolNameOf(entry, now)) });
      }
    }
  }

  private path(file: string): string {
    return join(this.queue, file);
  }
}

function fileOf({ id }: SpoolEntry): string {
  return `${keyOf(id)}.new`;
}
