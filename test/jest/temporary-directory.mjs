import { accessSync, constants, readFileSync, statfsSync } from 'node:fs';

const IN_MEMORY = '/dev/shm';
/** A container often has 64 MiB. The databases and browsers of a run need some hundred. */
const NEEDED_BYTES = 4 * 1024 ** 3;

/**
 * On some disks the creation of a file takes fifty times as long as in memory, and PostgreSQL has
 * hundreds. `TMPDIR` selects another directory.
 */
export function useMemoryForFiles() {
  if (process.env.TMPDIR === undefined && isLargeEnough()) {
    process.env.TMPDIR = IN_MEMORY;
  }
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
