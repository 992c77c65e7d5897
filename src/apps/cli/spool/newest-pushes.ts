import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { recordOf } from '../../../core/protocol/is-record.js';
import {
  makePrivateDirectory,
  readJsonIfExists,
  removeOldFiles,
  writePrivateFile,
} from '../../../common/private-files.js';
import type { DeliveryEntry } from './spool-entry.js';
import { keyOf } from './spool-name.js';

/** Longer than the lifetime of any delivery. */
const KEPT_MS = 2 * 3_600_000;

/** The time of the newest `ready` event of each session that a device received, which an older one would replace. */
export class NewestPushes {
  constructor(
    private readonly directory: string,
    private readonly now: () => number,
  ) {}

  /** Notes that the device received it. */
  async add(entry: DeliveryEntry): Promise<void> {
    const path = this.pathOf(entry);
    if (path !== null && !(await this.isSuperseded(entry))) {
      await makePrivateDirectory(this.directory);
      const mark = JSON.stringify({ createdAt: entry.delivery.createdAt });
      await writePrivateFile(path, mark, false);
    }
  }

  /** Returns true if the device received a newer event of the session. */
  async isSuperseded(entry: DeliveryEntry): Promise<boolean> {
    const path = this.pathOf(entry);
    const mark = path === null ? null : recordOf(await readJsonIfExists(path));
    const newest = Number(mark?.['createdAt']);
    // A later time than now is of a clock that was set back since.
    return newest > entry.delivery.createdAt && newest <= this.now();
  }

  /** Lets an older event replace it. */
  async forget(entry: DeliveryEntry): Promise<void> {
    const path = this.pathOf(entry);
    if (path !== null) {
      await rm(path, { force: true });
    }
  }

  tidy(): Promise<void> {
    return removeOldFiles(this.directory, this.now() - KEPT_MS);
  }

  /** null = no other event replaces it. */
  private pathOf({ account: { server, accountId }, delivery }: DeliveryEntry): string | null {
    if (delivery.kind === 'webhook' || delivery.topic !== 'ready') {
      return null;
    }
    const { kind, message, token } = delivery;
    const subject = [server, accountId, token, kind === 'push' ? message.tag : message.topic];
    return join(this.directory, keyOf(JSON.stringify(subject)));
  }
}
