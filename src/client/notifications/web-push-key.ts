import { parseJson } from '../../common/parse-json.js';
import type { GatehouseClient } from '../api/api-client.js';
import type { AccountContent } from '../crypto/account-content.js';
import { base64UrlOf, readBase64 } from '../crypto/bytes.js';
import { isRecord } from '../is-record.js';
import { readWebPushKey, WEB_PUSH_SETTING, type WebPushKey } from './web-push.js';

const MAX_WRITES = 5;

/** The account's settings cannot hold a Web Push key, and stay as they are. */
export class WebPushKeyError extends Error {
  override readonly name = 'WebPushKeyError';
}

/**
 * The public key with which browsers subscribe for this account. Makes the pair, in the settings,
 * where they hold none: of several devices at once, one makes it. Needs Web Crypto.
 *
 * @param client with the account's token
 * @param content opens and seals the settings of an end-to-end encrypted account; null = they are plain
 * @throws WebPushKeyError, ContentUnreadable where the settings are of another form or key
 */
export async function ensureWebPushKey(
  client: Pick<GatehouseClient, 'settings'>,
  content: AccountContent | null,
): Promise<string> {
  for (let tries = 0; tries < MAX_WRITES; tries += 1) {
    const stored = await client.settings.read();
    const fields = fieldsOf(stored.content, content);
    const known = readWebPushKey(fields[WEB_PUSH_SETTING]);
    if (known !== null) {
      return known.publicKey;
    }
    if ((fields[WEB_PUSH_SETTING] ?? null) !== null) {
      throw new WebPushKeyError('The settings hold a Web Push key that this version cannot read.');
    }
    const key = await generateWebPushKey();
    const settings = { ...fields, [WEB_PUSH_SETTING]: { v: 1, ...key } };
    const written = await client.settings.write(
      content === null
        ? { t: 'plain', v: settings }
        : { t: 'encrypted', c: content.seal('settings', settings) },
      stored.version,
    );
    if (written.success) {
      return key.publicKey;
    }
  }
  throw new WebPushKeyError('The settings keep changing. Try again in a moment.');
}

type StoredContent = Awaited<ReturnType<GatehouseClient['settings']['read']>>['content'];

function fieldsOf(
  stored: StoredContent,
  content: AccountContent | null,
): Readonly<Record<string, unknown>> {
  if (stored === null) {
    return {};
  }
  if (stored.t === 'encrypted' && content === null) {
    throw new WebPushKeyError('The settings are end-to-end encrypted: the device key is needed.');
  }
  const value = stored.t === 'plain' ? stored.v : content?.open('settings', stored.c);
  const fields: unknown = typeof value === 'string' ? parseJson(value) : value;
  if (!isRecord(fields)) {
    throw new WebPushKeyError('The settings are not a JSON object.');
  }
  return fields;
}

/** A new key pair. Needs Web Crypto. */
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
