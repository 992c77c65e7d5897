import { setTimeout as sleep } from 'node:timers/promises';
import type { NotifyWork } from './notify-work.js';

const SHORTEST_SLEEP_MS = 50;
/** How often a process that waits looks whether another one has added or sent something. */
const LONGEST_SLEEP_MS = 1_000;

/**
 * Tries what is due, here or in another process, until nothing waits any more.
 *
 * @param ids of the deliveries to wait for; without them, for all
 */
export async function untilNothingWaits(
  work: NotifyWork,
  ids?: ReadonlySet<string>,
): Promise<void> {
  for (;;) {
    work.accounts.forget();
    await work.runner.round();
    const dueAt = await work.runner.nextDueAt(ids);
    if (dueAt === null) {
      return;
    }
    const leftMs = dueAt - Date.now();
    await sleep(Math.min(LONGEST_SLEEP_MS, Math.max(SHORTEST_SLEEP_MS, leftMs)));
  }
}
