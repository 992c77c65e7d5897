import {
  accessSync,
  chmodSync,
  constants,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const IN_MEMORY = '/dev/shm';
/** A container often has 64 MiB. The databases and browsers of a run need some hundred. */
const NEEDED_BYTES = 4 * 1024 ** 3;

/**
 * Gives the run a directory for its temporary files, which ends with it. On some disks the creation of a file takes
 * fifty times as long as in memory, and PostgreSQL has hundreds. `TMPDIR` selects another place.
 */
export function useDirectoryOfRun() {
  const place = process.env.TMPDIR === undefined && isLargeEnough() ? IN_MEMORY : tmpdir();
  // The name is short, because a path of a Unix socket has 107 bytes at most.
  const directory = mkdtempSync(join(place, 'gh-'));
  // PostgreSQL runs as a user of its own.
  chmodSync(directory, 0o711);
  process.env.TMPDIR = directory;
  process.once('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }));
}

function isLargeEnough() {
  try {
    accessSync(IN_MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize >= NEEDED_BYTES && canRunPrograms();
  } catch {
    return false; // no Linux, or a sandbox
  }
}

function canRunPrograms() {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
  const options = mounts.map((line) => line.split(' ')).filter(([, path]) => path === IN_MEMORY);
  return (
    options.length > 0 && options.every(([, , , flags]) => !flags.split(',').includes('noexec'))
  );
}
