import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../../common/runtime/clock.js';
import { sha256 } from '../../../common/sha256.js';
import { SecretFile } from '../environment/secret-file.js';

const SHORTEST = 32;
const MOST = 2;

/**
 * Reads the secrets of a file, one a line. Two are valid during a rotation, and the last is the new one.
 *
 * @throws Error that completes "names a file that …" and quotes nothing of the file
 */
export function readSecretLines(text: string): readonly string[] {
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (lines.length === 0) {
    throw new Error('is empty');
  }
  if (lines.length > MOST) {
    throw new Error(`has more than ${MOST} lines`);
  }
  return lines;
}

/** Returns the secret that is sent to another party: the new one during a rotation. */
export function newestOf(secrets: readonly string[]): string {
  return secrets.at(-1) ?? '';
}

/**
 * Reads the bearer tokens of a file, one a line. Two are valid during a rotation.
 * @throws Error that completes "names a file that …" and quotes nothing of the file
 */
export function readBearerTokens(text: string): readonly string[] {
  const tokens = readSecretLines(text);
  if (tokens.some((token) => token.length < SHORTEST || !/^[\w.~+/=-]+$/.test(token))) {
    throw new Error(
      `has a token with less than ${SHORTEST} characters, or with others than RFC 6750 allows`,
    );
  }
  return tokens;
}

/** The bearer tokens of one caller, of which two are valid during a rotation. */
export class BearerTokens {
  /** SHA-256 of the valid tokens. */
  private readonly hashes: SecretFile<readonly Buffer[]>;

  constructor(
    clock: Clock,
    { tokenText, tokenFile }: { readonly tokenText: string; readonly tokenFile: string | null },
  ) {
    const parse = (text: string): readonly Buffer[] => readBearerTokens(text).map(sha256);
    this.hashes = new SecretFile(clock, parse(tokenText), tokenFile, parse);
  }

  /** Compares in constant time, with every valid token. */
  async include(token: string): Promise<boolean> {
    const valid = await this.hashes.current();
    const given = sha256(token);
    return valid.filter((hash) => timingSafeEqual(hash, given)).length > 0;
  }
}
