import type { AccountMode } from '../../../core/policy/operator-policy.js';
import type { SettingsMark } from '../crypto/account-content.js';
import { recordOf } from '../../../core/protocol/is-record.js';

/**
 * Facts of an account that a device keeps next to its key, so that the server does not decide them
 * (contract, Account content).
 */
export interface AccountPin {
  /** Decides which kind of content this device reads and writes. */
  readonly mode: AccountMode;
  /** The newest sealed settings that this device opened or wrote; null = none so far. */
  readonly settings: SettingsMark | null;
}

/** Stores the pin of one account. */
export interface PinStore {
  read(): Promise<AccountPin | null>;
  /** Replaces the pin. Of simultaneous calls, each has to receive the result of the one before. */
  update(change: (before: AccountPin | null) => AccountPin): Promise<void>;
}

/** Keeps a pin in memory: for a program that lives as long as its key, and for tests. */
export class MemoryPins implements PinStore {
  constructor(private pin: AccountPin | null = null) {}

  read(): Promise<AccountPin | null> {
    return Promise.resolve(this.pin);
  }

  update(change: (before: AccountPin | null) => AccountPin): Promise<void> {
    this.pin = change(this.pin);
    return Promise.resolve();
  }
}

/** Notes settings that this device opened or wrote; settings pin a device without a pin to `e2ee`. */
export async function noteSettings(
  pins: PinStore,
  known: AccountPin | null,
  mark: SettingsMark,
): Promise<void> {
  if (isNews(known, mark)) {
    // Another process may have seen newer settings meanwhile.
    await pins.update((pin) =>
      pin === null || isNews(pin, mark) ? { mode: pin?.mode ?? 'e2ee', settings: mark } : pin,
    );
  }
}

function isNews(known: AccountPin | null, { rev }: SettingsMark): boolean {
  const before = known?.settings ?? null;
  return before === null || rev > before.rev;
}

/** Pins the mode that the person confirmed on this device. What it has seen stays known. */
export function pinMode(pins: PinStore, mode: AccountMode): Promise<void> {
  return pins.update((pin) => ({ mode, settings: pin?.settings ?? null }));
}

/** Takes over the pin of the device that added this one. What this device has seen counts, too. */
export function adoptPin(pins: PinStore, given: AccountPin): Promise<void> {
  return pins.update((pin) => {
    const isNewer = given.settings !== null && isNews(pin, given.settings);
    return { mode: given.mode, settings: isNewer ? given.settings : (pin?.settings ?? null) };
  });
}

/** Reads a pin that was stored as JSON; null where it is damaged. */
export function readPin(stored: unknown): AccountPin | null {
  const { mode, settings = null } = recordOf(stored);
  const mark = readSettingsMark(settings);
  const isValid = (mode === 'e2ee' || mode === 'plain') && (settings === null || mark !== null);
  return isValid ? { mode, settings: mark } : null;
}

export function readSettingsMark(stored: unknown): SettingsMark | null {
  const { rev, hash } = recordOf(stored);
  const isMark =
    typeof rev === 'number' &&
    Number.isSafeInteger(rev) &&
    rev >= 0 &&
    typeof hash === 'string' &&
    /^[\w-]{43}$/.test(hash);
  return isMark ? { rev, hash } : null;
}
