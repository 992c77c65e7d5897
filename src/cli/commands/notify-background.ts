import { spawn } from 'node:child_process';
import { open, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { changedAt, makeOwnDirectory, namesIn, spoolDirectory } from '../../notify/spool-files.js';
import { hasEnded, ownerOfThisProcess } from '../../notify/spool-owner.js';
import type { CliContext } from '../context.js';
import { notifyOptions } from './notify-options.js';
import type { NotifyWork } from './notify-work.js';

const MARK = /^flusher\.(?<owner>[\da-z-]{1,80})$/;
const RENEWED_EVERY_MS = 10_000;
/**
 * A mark that is older counts for nothing: after a restart of the computer another program may have
 * the process id in it, and nobody would ever retry again.
 */
const COUNTS_FOR_MS = 60_000;

/**
 * Leaves a process behind that retries what waits, unless one does already: whoever waits for a
 * permission produces no further events whose sending could retry this one.
 */
export async function keepTryingInBackground(context: CliContext, work: NotifyWork): Promise<void> {
  if (notifyOptions(context).background === false || !(await hasWork(work))) {
    return;
  }
  const program = process.argv[1];
  if (program !== undefined && !(await hasFlusher(context))) {
    const args = [program, 'notify', 'flush', '--wait'];
    const env = { ...context.environment };
    spawn(process.execPath, args, { detached: true, stdio: 'ignore', env }).unref();
  }
}

/** Lets other processes know that this one retries, for as long as `work` takes. */
export async function asFlusher<Result>(
  { environment }: CliContext,
  work: () => Promise<Result>,
): Promise<Result> {
  const directory = spoolDirectory(environment);
  await makeOwnDirectory(directory);
  const mark = join(directory, `flusher.${ownerOfThisProcess()}`);
  await (await open(mark, 'w', 0o600)).close();
  // Where the mark cannot be renewed, a second process retries as well: each delivery has one owner.
  const renew = () => void utimes(mark, new Date(), new Date()).catch(() => undefined);
  const renewal = setInterval(renew, RENEWED_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(renewal);
    await rm(mark, { force: true });
  }
}

/** Deliveries that wait, or receipts that can be asked for by now. */
async function hasWork({ runner, spool }: NotifyWork): Promise<boolean> {
  return (await runner.nextDueAt()) !== null || (await spool.due()).length > 0;
}

async function hasFlusher({ environment }: CliContext): Promise<boolean> {
  const directory = spoolDirectory(environment);
  let isThere = false;
  for (const name of await namesIn(directory)) {
    const owner = MARK.exec(name)?.groups?.['owner'];
    if (owner === undefined) {
      continue;
    }
    const mark = join(directory, name);
    if (hasEnded(owner) || (await changedAt(mark)) < Date.now() - COUNTS_FOR_MS) {
      await rm(mark, { force: true });
    } else {
      isThere = true;
    }
  }
  return isThere;
}
