import { stat } from 'node:fs/promises';

export interface SpoolLimits {
  /** Entries that wait. */
  readonly maxWaiting: number;
  /** Of entries that wait. */
  readonly maxBytes: number;
  /** Ended entries that are kept to be looked at. */
  readonly maxHistory: number;
}

export const SPOOL_LIMITS: SpoolLimits = {
  maxWaiting: 5_000,
  maxBytes: 64 * 1024 * 1024,
  maxHistory: 3_000,
};

/** Larger than any delivery becomes that this sender plans. */
export const LARGEST_ENTRY_BYTES = 64 * 1024;

/** How many of these files, from the first on, have to go before the `added` entries fit. */
export async function excessOf(
  paths: readonly string[],
  added: readonly object[],
  { maxWaiting, maxBytes }: SpoolLimits,
): Promise<number> {
  const tooMany = Math.max(0, paths.length + added.length - maxWaiting);
  if ((paths.length + added.length) * LARGEST_ENTRY_BYTES <= maxBytes) {
    return tooMany;
  }
  const sizes = await Promise.all(paths.map(sizeOf));
  const sizesAdded = added.map((entry) => Buffer.byteLength(JSON.stringify(entry)));
  let bytes = [...sizes, ...sizesAdded].reduce((sum, size) => sum + size, 0);
  let files = 0;
  for (const size of sizes) {
    if (bytes <= maxBytes) {
      break;
    }
    bytes -= size;
    files += 1;
  }
  return Math.max(tooMany, files);
}

function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}
