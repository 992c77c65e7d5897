import { join } from 'node:path';
import { isRecord } from '../../../packages/client/is-record.js';
import {
  makePrivateDirectory,
  readJsonIfExists,
  removeOldFiles,
  writePrivateFile,
} from '../../../common/private-files.js';
import type { DeliveryEntry } from './spool-entry.js';
import { keyOf } from './spool-name.js';

/** Longer than the lifetime of any delivery. */
const KEPT_MS = 24 * 3_600_000;

/** The answered requests of a spool, also for processes that already hold a delivery of one. */
export class ResolvedRequests {
  constructor(private readonly directory: string) {}

  /** @param at Unix milliseconds; a later event with the same id is a new request */
  async add(server: string, requestId: string, at: number): Promise<void> {
    await makePrivateDirectory(this.directory);
    await removeOldFiles(this.directory, at - KEPT_MS);
    await writePrivateFile(this.pathOf(server, requestId), JSON.stringify({ at }));
  }

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
