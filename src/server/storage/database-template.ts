import { openAsBlob } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { PACKAGE_ROOT } from '../../common/package-root.js';
import { syncDirectory } from '../../common/private-files.js';

/** A migrated data directory of the embedded database, dumped by tools/build/database.mjs. */
const DATABASE_TEMPLATE = new URL('dist/bin/embedded-database.tar.gz', PACKAGE_ROOT);

/**
 * Makes `target` from the template, for its owner alone, in one step after a sync to disk. The
 * caller holds the claim on the data directory.
 * @throws Error where `target` is not empty, or the disk is full
 */
export async function loadDatabaseTemplate(target: string): Promise<void> {
  const unfinished = `${target}.unfinished`;
  try {
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(unfinished, { mode: 0o700 });
    const database = await PGlite.create({
      dataDir: unfinished,
      loadDataDir: await openAsBlob(DATABASE_TEMPLATE),
    });
    await database.close();
    await syncFiles(unfinished);
    await rename(unfinished, target);
    await syncDirectory(dirname(target));
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true }).catch(() => undefined);
    const message = `The embedded database ${target} cannot be made: ${reasonOf(error)}. Check the free disk space.`;
    throw new Error(message, { cause: error });
  }
}

/** WASI's number of ENOSPC. */
const NO_SPACE = 51;

/** The file system of the embedded database throws its number, and no Error. */
export function reasonOf(error: unknown): string {
  if (error instanceof Error) {
    return error.message;
  }
  const errno = typeof error === 'object' && error !== null && 'errno' in error ? error.errno : '';
  return errno === NO_SPACE
    ? 'no space left on device'
    : `error ${String(errno)} of its file system`;
}

async function syncFiles(directory: string): Promise<void> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) {
      await syncDirectory(path);
    } else {
      const file = await open(path, 'r');
      try {
        await file.sync();
      } finally {
        await file.close();
      }
    }
  }
  await syncDirectory(directory);
}
