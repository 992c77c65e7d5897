import { readFileSync, statSync } from 'node:fs';
import { decodeFile, decodeSecret, type FileText } from '../../../common/file-text.js';

const LARGEST_FILE_BYTES = 1_048_576;

/** A failure completes "names a file that ...". It omits the path, which may be a secret. */
export function readSmallFile(path: string | URL): FileText {
  return readDecoded(path, decodeFile);
}

/** {@link readSmallFile} without line ends at the end. */
export function readSecret(path: string): FileText {
  return readDecoded(path, decodeSecret);
}

/** @throws Error that completes "names a file that ..." */
export function oneLine(text: string): string {
  if (/[\r\n]/.test(text)) {
    throw new Error('has more than one line');
  }
  return text;
}

function readDecoded(path: string | URL, decode: (bytes: Buffer) => FileText): FileText {
  try {
    const stats = statSync(path);
    if (!stats.isFile() && !stats.isFIFO()) {
      return { failure: 'is not a file' };
    }
    if (stats.size > LARGEST_FILE_BYTES) {
      return { failure: 'is larger than 1 MiB' };
    }
    return decode(readFileSync(path));
  } catch (error) {
    return { failure: FAILURES[codeOf(error)] ?? 'cannot be read' };
  }
}

const FAILURES: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'may not be read by this process',
};

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}
