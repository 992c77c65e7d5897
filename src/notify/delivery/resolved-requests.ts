import { join } from 'node:path';
import { isRecord } from '../../client/is-record.js';
import {
  makePrivateDirectory,
  readJsonIfExists,
  removeOldFiles,
  writePrivateFile,
} from '../../common/private-files.js';
import type { DeliveryEntry } from './spool-entry.js';
import { keyOf } from './spool-name.js';

/** Longer than any delivery waits. */
const KEPT_MS = 24 * 3_600_000;

/**
 * The requests of a spool that were answered: also for the processes that have a delivery in hand,
 * or are only about to add one.
 */
export class ResolvedRequests {
  /** @param directory of these marks alone; made where it is missing */
  constructor(private readonly directory: string) {}

  /** @param at Unix milliseconds; a request of a later event is another one */
  async add(server: string, requestId: string, at: number): Promise<void> {
    await makePrivateDirectory(this.directory);
    await removeOldFiles(this.directory, at - KEPT_MS);
    await writePrivateFile(this.pathOf(server, requestId), JSON.stringify({ at }));
  }

  /** Whether the request of this delivery was answered. */
  async has({ account, delivery }: DeliveryEntry): Promise<boolean> {
    const { requestId = null, createdAt, resolves } = delivery;
    if (requestId === null || resolves === true) {
      return false;
    }
    const mark = await readJsonIfExists(this.pathOf(account.server, requestId));
    return isRecord(mark) && typeof mark['at'] === 'number' && mark['at'] >= createdAt;
  }

  private pathOf(server: string, requestId: string): string {
    return join(this.directory, keyOf(JSON.stringify([server, requestId])));
  }
}
