import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { PACKAGE_ROOT } from '../../common/package-root.js';
import { syncDirectory } from '../../common/private-files.js';

/** A migrated data directory of the embedded database, dumped by tools/build/database.mjs. */
const DATABASE_TEMPLATE = new URL('dist/bin/embedded-database.tar.gz', PACKAGE_ROOT);
/** The threads that Node has for files: each waits for one sync. */
const SYNCS_AT_ONCE = 4;

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
    for (const { name, content } of entriesOf(gunzipSync(readFileSync(DATABASE_TEMPLATE)))) {
      const path = join(unfinished, name);
      if (content === null) {
        mkdirSync(path, { mode: 0o700 });
      } else {
        writeFileSync(path, content, { mode: 0o600 });
      }
    }
    await syncFiles(unfinished);
    await rename(unfinished, target);
    await syncDirectory(dirname(target));
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true }).catch(() => undefined);
    const reason = error instanceof Error ? error.message : String(error);
    const message = `The embedded database ${target} cannot be made: ${reason}. Check the free disk space.`;
    throw new Error(message, { cause: error });
  }
}

const BLOCK_BYTES = 512;
const DIRECTORY = '5';

/**
 * Reads a ustar archive of files and directories with short names, as PGlite dumps it. PGlite's `loadDataDir` takes
 * seven times the CPU (docs/adr/0002-one-sql-dialect-embedded-postgresql.md).
 */
function* entriesOf(archive: Buffer): Generator<{ name: string; content: Buffer | null }> {
  const textAt = (from: number, length: number): string =>
    archive.toString('latin1', from, from + length).replace(/\0.*$/s, '');
  for (let at = 0; archive[at] !== 0;) {
    const size = Number.parseInt(textAt(at + 124, 12), 8);
    const isDirectory = textAt(at + 156, 1) === DIRECTORY;
    const begin = at + BLOCK_BYTES;
    yield {
      name: textAt(at, 100),
      content: isDirectory ? null : archive.subarray(begin, begin + size),
    };
    at = begin + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
  }
}

async function syncFiles(directory: string): Promise<void> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const waiting = entries.values();
  const syncOneByOne = async (): Promise<void> => {
    for (const { parentPath, name } of waiting) {
      await sync(join(parentPath, name));
    }
  };
  await Promise.all(Array.from({ length: SYNCS_AT_ONCE }, syncOneByOne));
  await syncDirectory(directory);
}

/** @param path of a file or a directory */
async function sync(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
