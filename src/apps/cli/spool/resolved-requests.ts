import { join } from 'node:path';
import { recordOf } from '../../../core/protocol/is-record.js';
import {
  makePrivateDirectory,
  readJsonIfExists,
  removeOldFiles,
  writePrivateFile,
} from '../../../common/private-files.js';
import type { DeliveryEntry, SpoolAccount } from './spool-entry.js';
import { keyOf } from './spool-name.js';

/** Longer than the lifetime of any delivery. */
const KEPT_MS = 24 * 3_600_000;

/** An answered request of an account. */
export interface ResolvedRequest {
  readonly account: Pick<SpoolAccount, 'server' | 'accountId'>;
  readonly requestId: string;
  /** null = of any session: a program may use an id in several. */
  readonly sessionId: string | null;
}

/** The answered requests of a spool, also for processes that already hold a delivery of one. */
export class ResolvedRequests {
  constructor(private readonly directory: string) {}

  /** @param at Unix milliseconds; a later event with the same id is a new request */
  async add(request: ResolvedRequest, at: number): Promise<void> {
    await makePrivateDirectory(this.directory);
    await removeOldFiles(this.directory, at - KEPT_MS);
    await writePrivateFile(this.pathOf(request), JSON.stringify({ at }));
  }

  async has({ account, delivery }: DeliveryEntry): Promise<boolean> {
    const { requestId = null, sessionId = null, createdAt, resolves } = delivery;
    if (requestId === null || resolves === true) {
      return false;
    }
    const subjects = [
      { account, requestId, sessionId: null },
      { account, requestId, sessionId },
    ];
    const marks = await Promise.all(subjects.map((one) => readJsonIfExists(this.pathOf(one))));
    return marks.some((mark) => Number(recordOf(mark)['at']) >= createdAt);
  }

  private pathOf({
    account: { server, accountId },
    requestId,
    sessionId,
  }: ResolvedRequest): string {
    const subject = [server, accountId, requestId, sessionId];
    return join(this.directory, keyOf(JSON.stringify(subject)));
  }
}
