import { createHash, hkdfSync, randomBytes } from 'node:crypto';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createPrivateFile, ifExists, syncDirectory } from '../../common/private-files.js';

const FILE = 'master-secret';
const SECRET_BYTES = 32;

/** A key derived from one master secret for one purpose. */
export interface DerivedKey {
  /** Names the master secret it came from, without revealing anything about it. */
  readonly id: string;
  readonly bytes: Uint8Array;
}

/**
 * Derives keys from the master secrets (HKDF-SHA256, RFC 5869): the current one makes, the
 * previous ones still open and verify.
 */
export class MasterKeys {
  private readonly listeners: (() => void)[] = [];

  constructor(
    private current: string,
    private previous: readonly string[],
  ) {}

  /** Makes with `current` from now on. What was current still opens and verifies, in this process. */
  replace(current: string, previous: readonly string[]): void {
    const kept = [...previous, this.current, ...this.previous];
    this.previous = [...new Set(kept)].filter((secret) => secret !== current);
    this.current = current;
    this.listeners.forEach((listener) => listener());
  }

  /** Calls back after every {@link replace}. */
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** The key that makes new tokens and seals. 32 bytes. */
  currentKey(purpose: string): DerivedKey {
    return derive(this.current, purpose);
  }

  /** Every key that may still be met, the current one first. */
  allKeys(purpose: string): DerivedKey[] {
    return [this.current, ...this.previous].map((secret) => derive(secret, purpose));
  }
}

function derive(secret: string, purpose: string): DerivedKey {
  const expand = (info: string, length: number): Uint8Array =>
    new Uint8Array(hkdfSync('sha256', secret, 'gatehouse', info, length));
  const id = createHash('sha256').update(expand('key id', 32)).digest('hex').slice(0, 8);
  return { id, bytes: expand(purpose, 32) };
}

/**
 * The master secret of the embedded database (base64 of 32 random bytes), kept in `dataDir` with
 * mode 0600 and made by the first call. Of two processes that make it at once, the second reads the first one's.
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
  if (await createPrivateFile(path, `${randomBytes(SECRET_BYTES).toString('base64')}\n`)) {
    // The name is on disk too before anything is sealed with the secret.
    await syncDirectory(directory);
  }
  const made = await readSecret(path);
  if (made === null) {
    throw new Error(`The master secret ${path} vanished while it was being made`);
  }
  return made;
}

function readSecret(path: string): Promise<string | null> {
  return ifExists<string | null>(async () => {
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0) {
      const octal = (mode & 0o777).toString(8).padStart(4, '0');
      throw new Error(
        `Other users may read the master secret ${path} (mode ${octal}). ` +
          `Run: chmod 600 '${path}'. If another user may have read it already, replace it.`,
      );
    }
    return checked((await readFile(path, 'utf8')).trim(), path);
  }, null);
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
