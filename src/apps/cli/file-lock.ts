import { rm } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { changedAt, createPrivateFile, readIfExists } from '../../common/private-files.js';
import { hasEnded, ownerOfThisProcess } from '../../packages/notify/delivery/spool-name.js';

/** Far longer than a change takes. Older locks belong to ended processes of other machines. */
const LOCKED_MS = 30_000;
const LOCK_TRIED_EVERY_MS = 20;

/** Runs changes of one file one after the other: of two simultaneous ones, one would be lost. */
export async function withFileLock<Result>(
  file: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const lock = `${file}.lock`;
  while (!(await createPrivateFile(lock, ownerOfThisProcess()))) {
    const owner = await readIfExists(lock);
    if (owner !== null && (hasEnded(owner) || (await changedAt(lock)) < Date.now() - LOCKED_MS)) {
      await rm(lock, { force: true });
    } else {
      await wait(LOCK_TRIED_EVERY_MS);
    }
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}
