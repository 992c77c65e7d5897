import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '../../../core/protocol/is-record.js';
import {
  makePrivateDirectory,
  namesIn,
  readJsonIfExists,
  removeAbandonedFiles,
  writePrivateFile,
} from '../../../common/private-files.js';
import type { Ending } from '../../../packages/notify/delivery/delivery.js';
import { Slots } from '../../../packages/notify/delivery/slots.js';
import { readSpoolEntry, type SpoolEntry } from './spool-entry.js';
import { keyOf } from './spool-name.js';

export interface EndedEntry {
  readonly entry: SpoolEntry;
  readonly ending: Ending;
}

const NAME = /^(?<at>\d{1,16})\.(?<key>[\da-f]{32})\.json$/;
/** Far below the limit of open files. */
const FILES_AT_ONCE = 64;
const KEPT_MS = 7 * 24 * 60 * 60_000;

interface HistoryName {
  readonly file: string;
  readonly key: string;
  readonly at: number;
}

export class SpoolHistory {
  private readonly slots = new Slots(FILES_AT_ONCE);

  constructor(
    private readonly directory: string,
    private readonly limit: number,
  ) {}

  /** Not synced: a power failure may lose the record, but no delivery. */
  async add(entry: SpoolEntry, ending: Ending): Promise<void> {
    await makePrivateDirectory(this.directory);
    const name = `${ending.at}.${keyOf(entry.id)}.json`;
    await writePrivateFile(join(this.directory, name), JSON.stringify({ entry, ending }), false);
  }

  async tidy(now: number): Promise<void> {
    const names = await this.names();
    const surplus = names.length - this.limit;
    const old = names.filter(({ at }, index) => index < surplus || at < now - KEPT_MS);
    await Promise.all(old.map(({ file }) => this.removeFile(file)));
    await removeAbandonedFiles(this.directory, now);
  }

  /** Oldest first. */
  async names(): Promise<readonly HistoryName[]> {
    const found = (await namesIn(this.directory)).flatMap((file) => {
      const groups = NAME.exec(file)?.groups;
      return groups === undefined
        ? []
        : [{ file, key: groups['key'] ?? '', at: Number(groups['at']) }];
    });
    return found.sort((one, other) => one.at - other.at);
  }

  /** Newest first, without damaged files. */
  async entries(): Promise<readonly EndedEntry[]> {
    return (await this.readAll(await this.names())).reverse();
  }

  async endingsOf(ids: readonly string[]): Promise<readonly EndedEntry[]> {
    const keys = new Set(ids.map(keyOf));
    return this.readAll((await this.names()).filter(({ key }) => keys.has(key)));
  }

  async remove(id: string): Promise<void> {
    const gone = (await this.names()).filter(({ key }) => key === keyOf(id));
    await Promise.all(gone.map(({ file }) => this.removeFile(file)));
  }

  private async readAll(names: readonly HistoryName[]): Promise<EndedEntry[]> {
    const read = names.map(({ file }) => this.slots.run(() => this.read(file)));
    return (await Promise.all(read)).filter((ended) => ended !== null);
  }

  private removeFile(file: string): Promise<void> {
    return rm(join(this.directory, file), { force: true });
  }

  private async read(file: string): Promise<EndedEntry | null> {
    const value = await readJsonIfExists(join(this.directory, file));
    if (!isRecord(value) || !isRecord(value['ending'])) {
      return null;
    }
    const entry = readSpoolEntry(value['entry']);
    return entry === null ? null : { entry, ending: value['ending'] as unknown as Ending };
  }
}
