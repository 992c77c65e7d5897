import { randomBytes } from 'node:crypto';
import { chmod, link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { isRecord } from '../client/problem.js';

const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_DIRECTORY = 0o700;
const LEFT_AFTER_MS = 60 * 60_000;

/** This user's spool (XDG Base Directory Specification: a relative XDG_STATE_HOME is ignored). */
export function spoolDirectory(environment: Readonly<Record<string, string | undefined>>): string {
  const { XDG_STATE_HOME: configured = '', HOME: home = '' } = environment;
  const base = isAbsolute(configured) ? configured : join(home || homedir(), '.local', 'state');
  return join(base, 'gatehouse', 'spool');
}

/** Makes a directory that only its owner can enter, also where it was open before. */
export async function makeOwnDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: OWNER_ONLY_DIRECTORY });
  await chmod(path, OWNER_ONLY_DIRECTORY);
}

/** Writes a file as a whole, only for its owner; with `isDurable` no power cut can lose it. */
export async function writeWhole(
  directory: string,
  name: string,
  text: string,
  isDurable: boolean,
): Promise<void> {
  const temporary = temporaryIn(directory);
  try {
    await writeTemporary(temporary, text, isDurable);
    await rename(temporary, join(directory, name));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Makes a file as a whole that no power cut can lose; false where there is one of that name. */
export async function createWhole(directory: string, name: string, text: string): Promise<boolean> {
  const temporary = temporaryIn(directory);
  try {
    await writeTemporary(temporary, text, true);
    await link(temporary, join(directory, name));
    return true;
  } catch (error) {
    if (isRecord(error) && error['code'] === 'EEXIST') {
      return false;
    }
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

const temporaryIn = (directory: string): string =>
  join(directory, `.${randomBytes(8).toString('hex')}.tmp`);

async function writeTemporary(path: string, text: string, isDurable: boolean): Promise<void> {
  const file = await open(path, 'wx', OWNER_ONLY_FILE);
  try {
    await file.writeFile(text);
    await (isDurable && file.sync());
  } finally {
    await file.close();
  }
}

/** Removes what processes left behind that were killed while they wrote. */
export async function removeLeftovers(directory: string, now: number): Promise<void> {
  for (const name of await namesIn(directory)) {
    const path = join(directory, name);
    if (name.endsWith('.tmp') && (await changedAt(path)) < now - LEFT_AFTER_MS) {
      await rm(path, { force: true });
    }
  }
}

/** Unix milliseconds; Infinity when there is no such file. */
export function changedAt(path: string): Promise<number> {
  return ifThere(async () => (await stat(path)).mtimeMs, Infinity);
}

/** Makes the names in a directory survive a power cut, too. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Renames; false when there is nothing of that name any more: somebody else was faster. */
export async function renameIfThere(from: string, to: string): Promise<boolean> {
  return ifThere(async () => (await rename(from, to), true), false);
}

/** The text of a file; null when there is none. */
export function readIfThere(path: string): Promise<string | null> {
  return ifThere<string | null>(() => readFile(path, 'utf8'), null);
}

/** The names in a directory; none when there is no such directory. */
export function namesIn(path: string): Promise<readonly string[]> {
  return ifThere<readonly string[]>(() => readdir(path), []);
}

async function ifThere<Value>(work: () => Promise<Value>, otherwise: Value): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (isRecord(error) && error['code'] === 'ENOENT') {
      return otherwise;
    }
    throw error;
  }
}
