import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const FILE = 'master-secret';
const SECRET_BYTES = 32;

/**
 * The master secret of the embedded database (base64 of 32 random bytes), kept in `dataDir` with
 * mode 0600 and made by the first call. Whoever loses the race to make it reads the winner's.
 *
 * @throws Error with the fix in words when others may read the file, or when it is damaged
 */
export async function loadMasterSecret(dataDir: string): Promise<string> {
  const directory = resolve(dataDir);
  const path = join(directory, FILE);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const existing = await readSecret(path);
  if (existing !== null) {
    return existing;
  }
  await makeSecret(directory, path);
  const made = await readSecret(path);
  if (made === null) {
    throw new Error(`The master secret ${path} vanished while it was being made`);
  }
  return made;
}

/** Written aside and linked into place: nobody ever sees, or is left with, half a secret. */
async function makeSecret(directory: string, path: string): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(`${randomBytes(SECRET_BYTES).toString('base64')}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(draft, path);
    await syncDirectory(directory);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) {
      throw error;
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/** The name is on disk too before anything is sealed with the secret. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function readSecret(path: string): Promise<string | null> {
  try {
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0) {
      const octal = (mode & 0o777).toString(8).padStart(4, '0');
      throw new Error(
        `Other users may read the master secret ${path} (mode ${octal}). ` +
          `Run: chmod 600 '${path}'. If somebody may have read it already, replace it.`,
      );
    }
    return checked((await readFile(path, 'utf8')).trim(), path);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) {
      return null;
    }
    throw error;
  }
}

function checked(secret: string, path: string): string {
  if (Buffer.from(secret, 'base64').length < SECRET_BYTES) {
    throw new Error(
      `The master secret ${path} is damaged: it must be base64 of at least ${SECRET_BYTES} bytes. ` +
        'Restore it from a backup; a new one cannot open what the old one sealed.',
    );
  }
  return secret;
}

function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
