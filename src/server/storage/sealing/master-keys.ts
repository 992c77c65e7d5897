import { createHash, hkdfSync } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  createPrivateFile,
  ifExists,
  makeDirectory,
  syncDirectory,
} from '../../../common/private-files.js';
import type { Random } from '../../../common/runtime/random.js';
import { ConfigurationError } from '../../config/environment/configuration-error.js';
import { readSecret as readSecretFile } from '../../config/environment/small-file.js';
import { holdsDatabase } from '../embedded/data-directory.js';

const FILE = 'master-secret';
const SECRET_BYTES = 32;
const RESTORE = 'Restore it from a backup; a new one cannot open what the old one sealed.';

interface DerivedKey {
  /** Identifies the master secret without revealing anything about it. */
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** `former`: the configuration no longer has it, and this process keeps it until it ends. */
export type SecretState = 'current' | 'previous' | 'former';

/** Derives keys from the master secrets (HKDF-SHA256, RFC 5869). Only the current one seals. */
export class MasterKeys {
  private readonly listeners: (() => void)[] = [];
  private former: readonly string[] = [];
  /** True if the secrets open what the database holds. False until that is known. */
  isConfirmed = false;

  constructor(
    private current: string,
    private previous: readonly string[],
  ) {}

  /** Replaces the current secret. In this process, the former one still opens and verifies. */
  replace(current: string, previous: readonly string[]): void {
    const known = new Set([this.current, ...this.previous, ...this.former]);
    this.former = [...known].filter((one) => one !== current && !previous.includes(one));
    this.previous = previous;
    this.current = current;
    this.listeners.forEach((listener) => listener());
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  currentKey(purpose: string): DerivedKey {
    return derive(this.current, purpose);
  }

  allKeys(purpose: string): DerivedKey[] {
    const secrets = new Set([this.current, ...this.previous, ...this.former]);
    return [...secrets].map((secret) => derive(secret, purpose));
  }

  /** @returns null when no secret of this process has the key id */
  stateOf(keyId: string): SecretState | null {
    const has = (secret: string): boolean => keyIdOf(secret) === keyId;
    if (has(this.current)) {
      return 'current';
    }
    if (this.previous.some(has)) {
      return 'previous';
    }
    return this.former.some(has) ? 'former' : null;
  }
}

function derive(secret: string, purpose: string): DerivedKey {
  return { id: keyIdOf(secret), bytes: expand(secret, purpose) };
}

function keyIdOf(secret: string): string {
  return createHash('sha256').update(expand(secret, 'key id')).digest('hex').slice(0, 8);
}

function expand(secret: string, info: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, 'gatehouse', info, 32));
}

export function masterSecretPath(dataDir: string): string {
  return join(resolve(dataDir), FILE);
}

/**
 * Reads the master secret of the embedded database (base64 of 32 random bytes) or creates it, mode
 * 0600. Of two processes that create it, the second reads the secret of the first.
 * @throws ConfigurationError when the directory cannot be used, when the file is gone and the database
 * exists, when other users may read the file, or when it is damaged
 */
export async function loadMasterSecret(dataDir: string, random: Random): Promise<string> {
  const directory = resolve(dataDir);
  try {
    return await secretIn(directory, random);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw UNUSABLE.includes(code)
      ? problem(
          `The directory ${directory} cannot be used (${code}). It must be one that the user of this ` +
            `process (${process.getuid?.() ?? 'unknown'}) may read and write.`,
        )
      : error;
  }
}

/** Failures that last until the operator gives another directory, or rights to it. */
const UNUSABLE: readonly string[] = ['EACCES', 'EPERM', 'EROFS', 'EEXIST', 'ENOENT', 'ENOTDIR'];

async function secretIn(directory: string, random: Random): Promise<string> {
  const path = masterSecretPath(directory);
  await makeDirectory(directory);
  const existing = await readSecret(path);
  if (existing !== null) {
    return existing;
  }
  if (holdsDatabase(directory)) {
    throw problem(
      `The embedded database in ${directory} exists, and its master secret ${path} does not. ` +
        'Restore the file from a backup, or set SERVICE_MASTER_SECRET if that was set before: ' +
        'a new secret cannot open what the old one sealed.',
    );
  }
  const drawn = random.bytes(SECRET_BYTES).toString('base64');
  if (await createPrivateFile(path, `${drawn}\n`)) {
    // The directory entry must be on disk before anything is sealed with the secret.
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
      throw problem(
        `Other users may read the master secret ${path} (mode ${octal}). ` +
          `Run: chmod 600 '${path}'. If another user may have read it already, replace it.`,
      );
    }
    const file = readSecretFile(path);
    if ('failure' in file) {
      throw problem(`The master secret ${path} ${file.failure}. ${RESTORE}`);
    }
    return checkMasterSecret(file.text, path);
  }, null);
}

/** @throws ConfigurationError for a damaged secret */
export function checkMasterSecret(text: string, path: string): string {
  const secret = text.trim();
  if (/\s/.test(secret) || Buffer.from(secret, 'base64').length < SECRET_BYTES) {
    throw problem(
      `The master secret ${path} is damaged: it must be base64 of at least ${SECRET_BYTES} bytes. ` +
        RESTORE,
    );
  }
  return secret;
}

function problem(message: string): ConfigurationError {
  return new ConfigurationError([{ variable: 'SERVICE_DATA_DIR', message }]);
}
