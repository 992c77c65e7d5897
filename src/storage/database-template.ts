import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { syncDirectory } from '../common/private-files.js';

/** A migrated data directory of the embedded database, packed by tools/build/database.mjs. */
export const DATABASE_TEMPLATE = new URL('../../dist/bin/embedded-database.br', import.meta.url);

const WRITERS = 16;
const CHUNK_BYTES = 4 * 1024 * 1024;
const LENGTH_BYTES = 4;

/** What an archive begins with, as JSON after its length in 4 bytes. The contents follow. */
export interface ArchiveHead {
  /** Parents before children. */
  readonly directories: readonly string[];
  /** Files of the same content share their place. */
  readonly files: readonly { readonly path: string; readonly at: number; readonly size: number }[];
}

/**
 * Makes the directory `target` from an archive, for its owner alone. It appears in one step, when
 * all of it is on disk; an end in the middle leaves `target` as it was. No other process may do so
 * for the same target at the same time.
 *
 * @throws Error where `target` is not empty, or the disk is full
 */
export async function unpackDatabase(target: string, archive = DATABASE_TEMPLATE): Promise<void> {
  const unfinished = `${target}.unfinished`;
  try {
    await rm(unfinished, { recursive: true, force: true });
    await writeAll(await readFile(archive), unfinished);
    await rename(unfinished, target);
    await syncDirectory(dirname(target));
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true }).catch(() => undefined);
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The embedded database ${target} cannot be made: ${reason}`, { cause: error });
  }
}

async function writeAll(archive: Buffer, directory: string): Promise<void> {
  const bytes = await promisify(brotliDecompress)(archive, { chunkSize: CHUNK_BYTES });
  const contentsAt = LENGTH_BYTES + bytes.readUInt32BE(0);
  const head = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, contentsAt)) as ArchiveHead;
  const directories = ['.', ...head.directories].map((path) => join(directory, path));
  for (const path of directories) {
    await mkdir(path, { mode: 0o700 });
  }
  const files = oneByOne(head.files);
  const writers = await Promise.allSettled(
    Array.from({ length: WRITERS }, async () => {
      for (const { path, at, size } of files) {
        const begin = contentsAt + at;
        await writeDurably(join(directory, path), bytes.subarray(begin, begin + size));
      }
    }),
  );
  const failed = writers.find((writer) => writer.status === 'rejected');
  if (failed !== undefined) {
    throw failed.reason;
  }
  await Promise.all(directories.map(syncDirectory));
}

/** For several loops: each gets what is left, and all end when one of them fails. */
function* oneByOne<Item>(items: readonly Item[]): Generator<Item> {
  yield* items;
}

async function writeDurably(path: string, content: Buffer): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}
