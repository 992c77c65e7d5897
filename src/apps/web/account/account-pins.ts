import {
  readPin,
  type AccountPin,
  type PinStore,
} from '../../../packages/client/settings/account-pin.js';
import type { AccountProfile } from '../../../packages/client/api/api-client-answers.js';
import type { AccountMode } from '../../../core/policy/operator-policy.js';

const PIN = 'gatehouse.pin.';

/**
 * Stores the pin of an account in this browser. It holds no secret, and stays after the sign-out: a
 * server that ends the session could otherwise make the browser forget it.
 */
export function pinsOf(accountId: string): PinStore {
  return {
    read: () => Promise.resolve(pinOf(accountId)),
    update: (change) => {
      localStorage.setItem(PIN + accountId, JSON.stringify(change(pinOf(accountId))));
      return Promise.resolve();
    },
  };
}

export function pinOf(accountId: string): AccountPin | null {
  try {
    return readPin(JSON.parse(localStorage.getItem(PIN + accountId) ?? 'null'));
  } catch {
    return null;
  }
}

export function forgetPin(accountId: string): void {
  localStorage.removeItem(PIN + accountId);
}

/** The mode of the account: the pinned one, else what the server says. */
export function accountMode({ id, encryptionMode }: AccountProfile): AccountMode {
  return pinOf(id)?.mode ?? encryptionMode;
}
