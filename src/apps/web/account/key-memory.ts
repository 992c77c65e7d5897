import type { LoginAnswer } from '../../../packages/client/api/api-client-answers.js';
import type { DeviceKey } from '../../../packages/client/crypto/device-key.js';
import { useRenderingAt } from '../ui/use-events.js';

/** The lifetime of a fresh login by default. */
const RECENT_MS = 900_000;

let known: {
  readonly accountId: string;
  readonly key: DeviceKey;
  readonly since: number;
} | null = null;

/**
 * Returns the session of a login with a key. The tab keeps the key for its other sections, in memory
 * only.
 */
export function sessionWithKey(
  { token, accountId }: Pick<LoginAnswer, 'token' | 'accountId'>,
  key: DeviceKey,
  isKeyEntered = true,
) {
  known = { accountId, key, since: Date.now() };
  return { token, accountId, isKeyEntered };
}

export function rememberedKey(accountId: string): DeviceKey | null {
  return known?.accountId === accountId ? known.key : null;
}

/** Returns the key for showing it: an older one is asked for again, as the tab may be unattended. */
export function recentKey(accountId: string): DeviceKey | null {
  const isRecent = known !== null && Date.now() - known.since < RECENT_MS;
  return isRecent ? rememberedKey(accountId) : null;
}

/** {@link recentKey} for rendering: the caller is rendered again when the key is no longer recent. */
export function useRecentKey(accountId: string): DeviceKey | null {
  const key = recentKey(accountId);
  useRenderingAt(key === null || known === null ? undefined : known.since + RECENT_MS);
  return key;
}

export function forgetKeyOf(accountId: string): void {
  if (known?.accountId === accountId) {
    known = null;
  }
}
