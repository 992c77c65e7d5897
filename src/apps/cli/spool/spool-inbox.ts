import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '../../../core/protocol/is-record.js';
import {
  changedAt,
  createPrivateFile,
  namesIn,
  readJsonIfExists,
  renameIfExists,
} from '../../../common/private-files.js';
import type { DamagedFiles } from './damaged-files.js';
import { readSpoolEntry, spoolNameOf, spoolText, type SpoolEntry } from './spool-entry.js';
import { formatSpoolName, hasEnded, keyOf } from './spool-name.js';

const NAME = /^[\da-f]{32}\.new$/;

/** New entries in files named by their id, so that one of several processes can add an id. */
export class SpoolInbox {
  constructor(
    private readonly queue: string,
    private readonly owner: string,
    private readonly damaged: DamagedFiles,
  ) {}

  /** Returns false if the id is being added already. @throws RangeError for an entry over 64 KiB */
  add(entry: SpoolEntry): Promise<boolean> {
    return createPrivateFile(this.path(fileOf(entry)), spoolText(entry, { addedBy: this.owner }));
  }

  /** Moves an entry to its place in the queue. Returns false if another process has done so. */
  moveToQueue({
    entry,
    name,
  }: {
    readonly entry: SpoolEntry;
    readonly name: string;
  }): Promise<boolean> {
    return renameIfExists(this.path(fileOf(entry)), this.path(name));
  }

  async remove(entries: readonly SpoolEntry[]): Promise<void> {
    await Promise.all(entries.map((entry) => rm(this.path(fileOf(entry)), { force: true })));
  }

  /** Moves entries of ended processes into the queue, and those unchanged since `before`; damaged ones aside. */
  async recover(now: number, before: number): Promise<void> {
    const left = (await namesIn(this.queue)).filter((name) => NAME.test(name));
    for (const file of left) {
      const value = await readJsonIfExists(this.path(file));
      const owner = isRecord(value) ? String(value['addedBy']) : '';
      const entry = readSpoolEntry(value);
      const isLeft = hasEnded(owner) || (await changedAt(this.path(file))) < before;
      if (isLeft && entry === null) {
        await this.damaged.add(this.path(file), now);
      } else if (isLeft && entry !== null) {
        await this.moveToQueue({ entry, name: formatSpoolName(spoolNameOf(entry, now)) });
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
