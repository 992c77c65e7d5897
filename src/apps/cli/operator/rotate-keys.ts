import { BrokenSealError } from '../../../server/storage/sealing/sealed-box.service.js';
import { configurationError } from '../cli-error.js';
import type { SealedDatabase } from './database.js';
import { notifyServers, operatorName } from './database-administration.js';

/** Receivers read the key set within a day, and so know a key before it signs. */
const PUBLISHED_BEFORE_MS = 86_400_000;

interface Rotation {
  /** True if the keys of before are revoked at once. */
  readonly isNow: boolean;
  readonly actor: string | undefined;
  readonly reason: string;
}

/** @returns null where no key is stored @throws CliError `wrong-secret` if they do not open */
export async function rotateKeys(
  { signingKeys, settings }: SealedDatabase,
  { isNow, actor, reason }: Rotation,
) {
  const by = { actor: operatorName(actor), reason };
  try {
    if ((await signingKeys.all()).length === 0) {
      return null;
    }
    const now = Date.now();
    const signsFrom = isNow ? now : now + PUBLISHED_BEFORE_MS;
    const records = await signingKeys.rotate(isNow ? null : signsFrom, by, now);
    const made = records.map(({ kid, alg }) => ({ kid, alg }));
    return { made, signsFrom, servers: await notifyServers(settings, { areKeysRotated: true }) };
  } catch (error) {
    if (error instanceof BrokenSealError) {
      throw configurationError(
        'The master secret does not open the stored keys.',
        'wrong-secret',
        'Set SERVICE_MASTER_SECRET and SERVICE_MASTER_SECRET_PREVIOUS as the servers have them.',
      );
    }
    throw error;
  }
}
