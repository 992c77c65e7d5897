import { spawn } from 'node:child_process';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeOwnDirectory, namesIn, spoolDirectory } from '../../notify/spool-files.js';
import { hasEnded, ownerOfThisProcess } from '../../notify/spool-owner.js';
import type { CliContext } from '../context.js';
import { notifyOptions } from './notify-options.js';
import type { NotifyWork } from './notify-work.js';

const MARK = /^flusher\.(?<owner>[\da-z-]{1,80})$/;

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
  try {
    return await work();
  } finally {
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
    if (owner !== undefined && hasEnded(owner)) {
      await rm(join(directory, name), { force: true });
    } else if (owner !== undefined) {
      isThere = true;
    }
  }
  return isThere;
}
