import type { SigningKeyRecord } from '../storage/repositories/oauth/signing-key.repository.js';

const DAY_MS = 86_400_000;
const SIGNS_FOR_MS = 90 * DAY_MS;
/** Receivers read the key set at least so often, and so know a key before it signs. */
const PUBLISHED_BEFORE_MS = DAY_MS;
/** The longest life of a token, and the time for which receivers keep the key set. */
const VERIFIES_FOR_MS = (15 + 5) * 60_000;

export type ScheduledKey = Omit<SigningKeyRecord, 'privateKey'>;

/**
 * Returns the key that signs now: the newest that has begun to. Where none has, the clock of the
 * process that made the first is ahead, and that key signs.
 */
export function currentKey<Key extends ScheduledKey>(
  keys: readonly Key[],
  alg: string,
  now: number,
): Key | undefined {
  const sorted = keys
    .filter((key) => key.alg === alg)
    .sort((one, other) => one.signsFrom - other.signsFrom);
  return sorted.findLast((key) => key.signsFrom <= now) ?? sorted[0];
}

/**
 * Returns when the next key of an algorithm has to sign from, if it has to be made now: at once when
 * there is none, a day ahead of the end of the current one; else null.
 */
export function nextKeyFrom(
  keys: readonly ScheduledKey[],
  alg: string,
  now: number,
): number | null {
  const current = currentKey(keys, alg, now);
  if (current === undefined) {
    return now;
  }
  const hasNext = keys.some((key) => key.alg === alg && key.signsFrom > now);
  const isDue = now >= current.signsFrom + SIGNS_FOR_MS - PUBLISHED_BEFORE_MS;
  return isDue && !hasNext ? now + PUBLISHED_BEFORE_MS : null;
}

/** Returns the keys that can have signed no token that is still valid. */
export function retiredKeys<Key extends ScheduledKey>(keys: readonly Key[], now: number): Key[] {
  return keys.filter((key) =>
    keys.some(
      (next) =>
        next.alg === key.alg &&
        next.signsFrom > key.signsFrom &&
        next.signsFrom + VERIFIES_FOR_MS <= now,
    ),
  );
}
