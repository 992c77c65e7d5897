import { readBase64 } from '../../../core/protocol/base64.js';
import { changeSettings, type SettingsAccess } from '../settings/account-settings.js';
import type { GatehouseClient } from '../api/api-client.js';
import { base64UrlOf } from '../crypto/bytes.js';
import { readWebPushKey, WEB_PUSH_SETTING, type WebPushKey } from './web-push.js';

/** The account has no usable Web Push key; the settings are unchanged. */
export class WebPushKeyError extends Error {
  override readonly name = 'WebPushKeyError';
}

/**
 * Returns the public key with which browsers subscribe for this account. Creates the key pair in
 * the settings if there is none; of several concurrent devices, one creates it. Needs Web Crypto.
 *
 * @param client with the account's token
 * @param access null on a device that has no key of the account, and has had none
 * @throws WebPushKeyError, SettingsUnreadable, SettingsRefused, SettingsConflict
 */
export async function ensureWebPushKey(
  client: Pick<GatehouseClient, 'settings'>,
  access: SettingsAccess | null,
): Promise<string> {
  const fields = await changeSettings(client, access, async (before) => {
    const stored = before[WEB_PUSH_SETTING] ?? null;
    return stored === null
      ? { ...before, [WEB_PUSH_SETTING]: { v: 1, ...(await generateWebPushKey()) } }
      : before;
  });
  const key = readWebPushKey(fields[WEB_PUSH_SETTING]);
  if (key === null) {
    throw new WebPushKeyError('The settings hold a Web Push key that this version cannot read.');
  }
  return key.publicKey;
}

export async function generateWebPushKey(): Promise<WebPushKey> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const pair = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const point = new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey));
  const { d = '' } = await crypto.subtle.exportKey('jwk', pair.privateKey);
  const privateKey = readBase64(d, 32, 32);
  if (privateKey === null) {
    throw new WebPushKeyError('This browser made no key that can be used.');
  }
  return { publicKey: base64UrlOf(point), privateKey: base64UrlOf(privateKey) };
}
