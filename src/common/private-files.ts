import { randomBytes } from 'node:crypto';
import {
  chmod,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  type FileHandle,
} from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { parseJson } from './parse-json.js';

const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_DIRECTORY = 0o700;
const TEMPORARY = '.tmp';
const ABANDONED_AFTER_MS = 60 * 60_000;

const USER_DIRECTORIES = {
  config: { variable: 'XDG_CONFIG_HOME', otherwise: '.config' },
  state: { variable: 'XDG_STATE_HOME', otherwise: join('.local', 'state') },
} as const;

/** XDG Base Directory Specification: a relative path is ignored. */
export function userDirectory(
  kind: keyof typeof USER_DIRECTORIES,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const { variable, otherwise } = USER_DIRECTORIES[kind];
  const configured = environment[variable] ?? '';
  const home = environment['HOME'] || homedir();
  return join(isAbsolute(configured) ? configured : join(home, otherwise), 'gatehouse');
}

export async function makePrivateDirectory(path: string): Promise<void> {
  await makeDirectory(path);
  await chmod(path, OWNER_ONLY_DIRECTORY);
}

/**
 * Makes the directory, mode 0700, and those above it, where they are missing. Node's own `recursive` never ends where
 * nothing can be made, as in /proc or below an automounter, and reports a read-only file system as a missing directory.
 */
export async function makeDirectory(path: string): Promise<void> {
  const parent = dirname(path);
  const make = async () => (await mkdir(path, OWNER_ONLY_DIRECTORY), true);
  try {
    if (!(await ifExists(make, false))) {
      await (parent === path ? undefined : makeDirectory(parent));
      await make();
    }
  } catch (error) {
    const found = await stat(path).catch(() => null);
    if (found?.isDirectory() !== true) {
      throw error;
    }
  }
}

/**
 * Replaces a file atomically: neither a reader nor a crash meets a part of it.
 * @param isDurable true if the text must survive a power failure
 */
export async function writePrivateFile(
  path: string,
  text: string,
  isDurable = true,
): Promise<void> {
  await withTemporaryFile(path, text, isDurable, (temporary) => rename(temporary, path));
}

/** Returns false if the file exists. */
export function createPrivateFile(path: string, text: string): Promise<boolean> {
  return withTemporaryFile(path, text, true, (temporary) =>
    unless('EEXIST', async () => (await link(temporary, path), true), false),
  );
}

/** Removes temporary files of processes that were killed during a write. */
export function removeAbandonedFiles(directory: string, now: number): Promise<void> {
  return removeOldFiles(directory, now - ABANDONED_AFTER_MS, TEMPORARY);
}

/** @param before Unix milliseconds */
export async function removeOldFiles(
  directory: string,
  before: number,
  ending = '',
): Promise<void> {
  for (const name of await namesIn(directory)) {
    const path = join(directory, name);
    if (name.endsWith(ending) && (await changedAt(path)) < before) {
      await rm(path, { force: true });
    }
  }
}

/** The entries of a synced directory survive a power failure. Windows refuses to sync one. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') {
    return;
  }
  await closing(await open(path, 'r'), (directory) => directory.sync());
}

export async function readIfExists(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') {
      return null;
    }
    // Node 20 does not name the directory that lies in the place of the file.
    throw code === 'EISDIR' ? Object.assign(error as Error, { path }) : error;
  }
}

/** Returns null if the file does not exist or is damaged. */
export async function readJsonIfExists(path: string): Promise<unknown> {
  return parseJson((await readIfExists(path)) ?? '') ?? null;
}

/** Returns false if the file no longer exists, because another process was first. */
export function renameIfExists(from: string, to: string): Promise<boolean> {
  return ifExists(async () => (await rename(from, to), true), false);
}

export function namesIn(path: string): Promise<readonly string[]> {
  return ifExists<readonly string[]>(() => readdir(path), []);
}

/** Unix milliseconds; Infinity if the file does not exist. */
export function changedAt(path: string): Promise<number> {
  return ifExists(async () => (await stat(path)).mtimeMs, Infinity);
}

const FULL_OR_FOREIGN = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EACCES', 'EPERM'];
const NO_FOLDER = ['ENOENT', 'ENOTDIR', 'EEXIST', 'ELOOP', 'ENAMETOOLONG'];
const UNUSABLE = [...FULL_OR_FOREIGN, ...NO_FOLDER, 'EIO', 'EMFILE', 'ENFILE'];

/** Returns true if the path is full, read-only or owned by another user. */
export function isUnusable(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && UNUSABLE.includes(String((error as { code?: unknown }).code));
}

/** @throws any other error */
export function unlessUnusable(error: unknown): void {
  if (!isUnusable(error)) {
    throw error;
  }
}

/** Returns `otherwise` if the file does not exist. */
export function ifExists<Value>(work: () => Promise<Value>, otherwise: Value): Promise<Value> {
  return unless('ENOENT', work, otherwise);
}

async function withTemporaryFile<Result>(
  path: string,
  text: string,
  isDurable: boolean,
  place: (temporary: string) => Promise<Result>,
): Promise<Result> {
  const temporary = join(dirname(path), `.${randomBytes(8).toString('hex')}${TEMPORARY}`);
  try {
    await closing(await open(temporary, 'wx', OWNER_ONLY_FILE), async (file) => {
      await file.writeFile(text);
      if (isDurable) {
        await file.sync();
      }
    });
    return await place(temporary);
  } catch (error) {
    // Node names no file where the disk is full, and the temporary one elsewhere.
    throw Object.assign(error as Error, { path });
  } finally {
    await rm(temporary, { force: true });
  }
}

async function closing(file: FileHandle, work: (file: FileHandle) => Promise<void>): Promise<void> {
  try {
    await work(file);
  } finally {
    await file.close();
  }
}

async function unless<Value>(
  code: string,
  work: () => Promise<Value>,
  otherwise: Value,
): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException | null)?.code === code) {
      return otherwise;
    }
    throw error;
  }
}
