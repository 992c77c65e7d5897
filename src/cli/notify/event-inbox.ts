import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '../../client/is-record.js';
import {
  makePrivateDirectory,
  namesIn,
  readJsonIfExists,
  renameIfExists,
  writePrivateFile,
} from '../../common/private-files.js';
import type { NotificationEvent } from '../../notify/content/notification-event.js';
import { planNotification, type Plan } from '../../notify/delivery/plan.js';
import type { SpoolAccount } from '../../notify/delivery/spool-entry.js';
import { hasEnded, ownerOfThisProcess } from '../../notify/delivery/spool-name.js';
import type { KnownAccount } from './spool-accounts.js';

/** Events of which the targets are not known yet, with what decides how they are sent. */
export interface PendingEvents {
  readonly v: 1;
  readonly account: SpoolAccount;
  readonly events: readonly NotificationEvent[];
  readonly requestPreviews: boolean;
  readonly maskSecrets: boolean;
  readonly denyPrivate: boolean;
}

export interface PlannedEvent extends Plan {
  readonly event: NotificationEvent;
}

/** No event matters longer. */
const LONGEST_TTL_MS = 3_600_000;
const NAME = /^[\da-f]{24}\.(?<owner>[\da-z-]{1,80})\.json$/;
const FREE = 'free';

/**
 * Events on the disk from before the server is asked, until their deliveries are in the spool: a
 * process that is killed, or a server that is away, loses none.
 */
export class EventInbox {
  private readonly owner = ownerOfThisProcess();

  constructor(private readonly directory: string) {}

  /**
   * Resolves with the path when they are on the disk.
   *
   * @param isFree whether any process may send them from now on
   */
  async add(pending: PendingEvents, isFree: boolean): Promise<string> {
    await makePrivateDirectory(this.directory);
    const name = `${randomBytes(12).toString('hex')}.${isFree ? FREE : this.owner}.json`;
    const path = join(this.directory, name);
    await writePrivateFile(path, JSON.stringify(pending));
    return path;
  }

  /** Their deliveries are in the spool, or nothing is to be sent. */
  remove(path: string): Promise<void> {
    return rm(path, { force: true });
  }

  /** Lets any process send them. */
  async release(path: string): Promise<void> {
    await renameIfExists(path, path.replace(this.owner, FREE));
  }

  /** Those that no running process has in hand. What no longer matters, or is damaged, is removed. */
  async free(): Promise<readonly { readonly path: string; readonly pending: PendingEvents }[]> {
    const found: { path: string; pending: PendingEvents }[] = [];
    for (const name of await namesIn(this.directory)) {
      const owner = NAME.exec(name)?.groups?.['owner'];
      if (owner === undefined || (owner !== FREE && !hasEnded(owner))) {
        continue;
      }
      const path = join(this.directory, name);
      const pending = readPending(await readJsonIfExists(path));
      if (pending === null) {
        await this.remove(path);
      } else {
        found.push({ path, pending });
      }
    }
    return found;
  }
}

function readPending(value: unknown): PendingEvents | null {
  const isOne = isRecord(value) && value['v'] === 1 && Array.isArray(value['events']);
  const pending = isOne ? (value as unknown as PendingEvents) : null;
  const isDue = pending?.events.some(({ createdAt }) => createdAt > Date.now() - LONGEST_TTL_MS);
  return isDue === true ? pending : null;
}

/** What to send of each event, by the account's settings and tokens. */
export function planEvents(
  { events, requestPreviews, maskSecrets }: PendingEvents,
  { preferences, tokens }: Pick<KnownAccount, 'preferences' | 'tokens'>,
): readonly PlannedEvent[] {
  const options = { now: Date.now(), requestPreviews, maskSecrets };
  return events.map((event) => ({
    event,
    ...planNotification(event, preferences, tokens, options),
  }));
}
