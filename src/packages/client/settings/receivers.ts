import { sha256 } from '@noble/hashes/sha2.js';
import type { GatehouseClient } from '../api/api-client.js';
import { base64UrlOf, utf8Bytes } from '../crypto/bytes.js';
import {
  changeSettings,
  modeOf,
  type SettingsAccess,
  type SettingsFields,
} from './account-settings.js';

/** Field of the sealed settings with the confirmed receivers (contract, Push tokens). */
export const RECEIVERS_SETTING = 'receivers';

/** Hashes of the push tokens that a device with the key of the account confirmed. */
export type ConfirmedReceivers = ReadonlySet<string>;

/** Returns null where no device has confirmed a receiver yet: then all of them get text. */
export function readReceivers(fields: SettingsFields): ConfirmedReceivers | null {
  const stored = fields[RECEIVERS_SETTING] ?? null;
  return stored === null ? null : new Set(Array.isArray(stored) ? (stored as string[]) : []);
}

/** Returns true if senders may send text to this push token. */
export function isConfirmedReceiver(receivers: ConfirmedReceivers | null, token: string): boolean {
  return receivers === null || receivers.has(receiverHash(token));
}

/** SHA-256 of a push token in base64url. */
function receiverHash(token: string): string {
  return base64UrlOf(sha256(utf8Bytes(token)));
}

/** The account's token reads and writes settings, and lists push tokens. */
export type ReceiversClient = Pick<GatehouseClient, 'settings' | 'pushTokens'>;

/**
 * Confirms push tokens: from then on senders send text to confirmed ones only. A session token alone
 * must not be enough to read notifications, so this needs the key of the account.
 *
 * @param client with the account's token
 * @param tokens that the person recognises; an empty list only removes those that are not saved any more
 * @returns null on a device without the key, and where the settings are not end-to-end encrypted
 * @throws SettingsUnreadable, SettingsRefused, SettingsConflict
 */
export async function confirmReceivers(
  client: ReceiversClient,
  access: SettingsAccess | null,
  tokens: readonly string[],
): Promise<ConfirmedReceivers | null> {
  if (access === null || !(await canConfirm(access))) {
    return null;
  }
  const change = (before: SettingsFields) => withReceivers(client, before, tokens);
  return readReceivers(await changeSettings(client, access, change));
}

/**
 * Confirms the push token that this device just saved. Without a list it confirms only the first token
 * of an account: where there are others, the person has to choose, with {@link confirmReceivers}.
 *
 * @returns as {@link confirmReceivers}; null also where the person has to choose
 */
export async function confirmOwnReceiver(
  client: ReceiversClient,
  access: SettingsAccess | null,
  token: string,
): Promise<ConfirmedReceivers | null> {
  if (access === null || !(await canConfirm(access))) {
    return null;
  }
  const isAlone = (await client.pushTokens()).every((saved) => saved.token === token);
  const change = (before: SettingsFields) =>
    readReceivers(before) === null && !isAlone ? before : withReceivers(client, before, [token]);
  return readReceivers(await changeSettings(client, access, change));
}

async function canConfirm({ content, pins }: SettingsAccess): Promise<boolean> {
  return content !== null && modeOf(content, await pins.read()) === 'e2ee';
}

/** Adds the tokens, and removes those that are not saved: added again, they have to be confirmed again. */
async function withReceivers(
  client: ReceiversClient,
  fields: SettingsFields,
  tokens: readonly string[],
): Promise<SettingsFields> {
  const before = readReceivers(fields);
  // Listed after the settings: each token was saved before it was confirmed.
  const saved = new Set((await client.pushTokens()).map(({ token }) => receiverHash(token)));
  const added = tokens.map(receiverHash);
  const after = [...new Set([...(before ?? []), ...added])].filter((hash) => saved.has(hash));
  const isSame = before?.size === after.length && added.every((hash) => before.has(hash));
  return isSame || (before === null && tokens.length === 0)
    ? fields
    : { ...fields, [RECEIVERS_SETTING]: after };
}
