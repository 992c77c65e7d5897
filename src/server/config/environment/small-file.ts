import { readFileSync, statSync } from 'node:fs';

const LARGEST_FILE_BYTES = 1_048_576;

type FileText = { readonly text: string } | { readonly failure: string };

/** A failure completes "names a file that ...". It omits the path, which may be a secret. */
export function readSmallFile(path: string | URL): FileText {
  try {
    const stats = statSync(path);
    if (!stats.isFile() && !stats.isFIFO()) {
      return { failure: 'is not a file' };
    }
    if (stats.size > LARGEST_FILE_BYTES) {
      return { failure: 'is larger than 1 MiB' };
    }
    return { text: readFileSync(path, 'utf8') };
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
