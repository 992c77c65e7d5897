import {
  browserRequestKeys,
  canKeepRequestKeys,
  importRequestKeys,
  type StoredRequestKeys,
} from '../../../../packages/client/crypto/browser-request-keys.js';
import type { DeviceKey } from '../../../../packages/client/crypto/device-key.js';
import {
  deriveRequestKeyBytes,
  requestKeys,
  type RequestKeys,
} from '../../../../packages/client/crypto/request-keys.js';
import { AccountRequests } from '../../../../packages/client/approvals/account-requests.js';
import {
  openBytesWithPasskey,
  passkeySupport,
  sealBytesWithPasskey,
  type PasskeySeal,
} from '../passkey.js';
import { isStaying } from '../tab-state.js';
import { readEntry, writeEntry, type KeyEntry } from './browser-store.js';

/** The keys of one account in this browser. The secret of the account is not among them. */
interface StoredKeys extends KeyEntry {
  readonly keys: Omit<StoredRequestKeys, 'answerKey'> & {
    /** Absent where a passkey opens it. */
    readonly answerKey?: StoredRequestKeys['answerKey'];
  };
  /** The seed of the answer key, encrypted for a passkey; null = `answerKey` signs at once. */
  readonly passkey: PasskeySeal | null;
}

/** The means of this tab to open and answer the requests of an account. */
export interface AnswerKeys {
  readonly requests: AccountRequests;
  /** `tab`: in memory, until the page is loaded again. */
  readonly place: 'browser' | 'tab';
  /** True if a passkey confirms each signed answer. */
  readonly isConfirmed: boolean;
}

/** The places for the keys that this browser offers. */
export interface KeepingChoices {
  /**
   * False where the session ends with the tab, Web Crypto lacks Ed25519, or the page is not on the Home
   * Screen of an iPhone: keys stay in memory.
   */
  readonly canKeep: boolean;
  /** True if a passkey of this device can confirm answers. */
  readonly canConfirm: boolean;
}

export async function keepingChoices(): Promise<KeepingChoices> {
  const isPlace = isStaying() && !isBrowserOfPhone() && 'indexedDB' in window;
  const canKeep = isPlace && (await canKeepRequestKeys());
  const canConfirm = canKeep && (await passkeySupport().catch(() => 'none')) === 'device';
  return { canKeep, canConfirm };
}

/** Only iPhones and iPads have this property. Notifications come to pages on their Home Screen only. */
function isBrowserOfPhone(): boolean {
  return (navigator as { readonly standalone?: boolean }).standalone === false;
}

/** Derives the keys for this tab alone. */
export function keysOfTab(key: DeviceKey, accountId: string): AnswerKeys {
  const requests = new AccountRequests(requestKeys(key.bytes), accountId);
  return { requests, place: 'tab', isConfirmed: false };
}

/** Keeps the keys in this browser. Rejects with PasskeyProblem. */
export async function keepKeys(
  key: DeviceKey,
  accountId: string,
  passkeyName: string | null,
): Promise<AnswerKeys> {
  const { answerKey, ...others } = await importRequestKeys(key.bytes);
  const entry: StoredKeys =
    passkeyName === null
      ? { accountId, keys: { ...others, answerKey }, passkey: null }
      : { accountId, keys: others, passkey: await sealAnswerSeed(key, accountId, passkeyName) };
  await writeEntry(entry);
  return answerKeysOf(entry);
}

/** Returns the keys that this browser keeps; null without any, and where storage is refused. */
export async function keptKeys(accountId: string): Promise<AnswerKeys | null> {
  const entry = await readEntry<StoredKeys>(accountId).catch(() => undefined);
  return entry === undefined ? null : answerKeysOf(entry);
}

async function sealAnswerSeed(
  key: DeviceKey,
  accountId: string,
  name: string,
): Promise<PasskeySeal> {
  const { answerSeed } = deriveRequestKeyBytes(key.bytes);
  try {
    return await sealBytesWithPasskey(answerSeed, contextOf(accountId), name);
  } finally {
    answerSeed.fill(0);
  }
}

function answerKeysOf({ accountId, keys, passkey }: StoredKeys): AnswerKeys {
  const requests = new AccountRequests(signerOf(accountId, keys, passkey), accountId);
  return { requests, place: 'browser', isConfirmed: passkey !== null };
}

function signerOf(
  accountId: string,
  { answerKey, ...others }: StoredKeys['keys'],
  passkey: PasskeySeal | null,
): RequestKeys {
  // The public key only fills the place of a key that never signs: `sign` is replaced below.
  const stored = browserRequestKeys({ ...others, answerKey: answerKey ?? others.answerPublicKey });
  return passkey === null
    ? stored
    : { ...stored, sign: (message) => signWithPasskey(message, accountId, passkey) };
}

/** Opens the seed for one signature. */
async function signWithPasskey(
  message: Uint8Array<ArrayBuffer>,
  accountId: string,
  passkey: PasskeySeal,
): Promise<Uint8Array> {
  const { signWith } = await import('../../../../packages/client/crypto/ed25519.js');
  const seed = await openBytesWithPasskey(passkey, contextOf(accountId));
  try {
    return await signWith(seed, message);
  } finally {
    seed.fill(0);
  }
}

function contextOf(accountId: string): string {
  return `answer\n${accountId}`;
}
