import { rm } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { changedAt, createPrivateFile, readIfExists } from '../../common/private-files.js';
import { hasEnded, ownerOfThisProcess } from './spool/spool-name.js';

/** Far longer than a change takes. Older locks belong to ended processes of other machines. */
const LOCKED_MS = 30_000;
/** Grows, so that many waiting processes do not slow down the one that works. */
const PAUSE_MS = { first: 20, longest: 320 };

/** Runs changes of one file one after the other: of two simultaneous ones, one would be lost. */
export async function withFileLock<Result>(
  file: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const lock = `${file}.lock`;
  let pauseMs = PAUSE_MS.first;
  while (!(await takeLock(lock))) {
    await wait(pauseMs);
    pauseMs = Math.min(pauseMs * 2, PAUSE_MS.longest);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

/** Looks for a lock first, because an attempt to create one writes to the disk. */
async function takeLock(lock: string): Promise<boolean> {
  const owner = await readIfExists(lock);
  if (owner !== null) {
    if (await isHeld(lock, owner)) {
      return false;
    }
    // One at a time: otherwise the second would remove the lock that the first has just taken.
    await withFileLock(lock, () => removeUnlessHeld(lock));
  }
  return createPrivateFile(lock, ownerOfThisProcess());
}

async function removeUnlessHeld(lock: string): Promise<void> {
  const owner = await readIfExists(lock);
  if (owner !== null && !(await isHeld(lock, owner))) {
    await rm(lock, { force: true });
  }
}

async function isHeld(lock: string, owner: string): Promise<boolean> {
  // A later time is of a clock that was set back since.
  return !hasEnded(owner) && Math.abs((await changedAt(lock)) - Date.now()) <= LOCKED_MS;
}
