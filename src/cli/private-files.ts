import { randomBytes } from 'node:crypto';
import { chmod, link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { isRecord } from '../client/problem.js';

const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_DIRECTORY = 0o700;

/** This user's directory for Gatehouse (XDG Base Directory Specification: relative is ignored). */
export function configDirectory(environment: Readonly<Record<string, string | undefined>>): string {
  const { XDG_CONFIG_HOME: configured = '', HOME: home = '' } = environment;
  const base = isAbsolute(configured) ? configured : join(home || homedir(), '.config');
  return join(base, 'gatehouse');
}

/** Makes a directory that only its owner can enter, also where it was open before. */
export async function makePrivateDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: OWNER_ONLY_DIRECTORY });
  await chmod(path, OWNER_ONLY_DIRECTORY);
}

/** The text of a file, or null when there is none. */
export async function readIfExists(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isRecord(error) && error['code'] === 'ENOENT') {
      return null;
    }
    throw error;
  }
}

/** Replaces a file as a whole: a reader, or a crash, never meets half of it. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  await throughTemporaryFile(path, text, (temporary) => rename(temporary, path));
}

/** Writes a file that must not exist yet; false, and nothing changed, where it does. */
export async function createPrivateFile(path: string, text: string): Promise<boolean> {
  return throughTemporaryFile(path, text, async (temporary) => {
    try {
      await link(temporary, path);
      return true;
    } catch (error) {
      if (isRecord(error) && error['code'] === 'EEXIST') {
        return false;
      }
      throw error;
    }
  });
}

async function throughTemporaryFile<Result>(
  path: string,
  text: string,
  place: (temporary: string) => Promise<Result>,
): Promise<Result> {
  const temporary = join(dirname(path), `.${randomBytes(8).toString('hex')}.tmp`);
  try {
    const file = await open(temporary, 'wx', OWNER_ONLY_FILE);
    try {
      await file.writeFile(text);
      // A device key that a power cut loses is an account lost.
      await file.sync();
    } finally {
      await file.close();
    }
    return await place(temporary);
  } finally {
    await rm(temporary, { force: true });
  }
}
