import { ContentUnreadable, type AccountContent } from '../client/crypto/account-content.js';
import { isRecord } from '../client/is-record.js';
import { parseJson } from '../common/parse-json.js';

/** An account's settings as `GET /v2/account/settings` returns them. */
export type SettingsContent =
  | { readonly t: 'plain'; readonly v: unknown }
  | { readonly t: 'encrypted'; readonly c: string }
  | null;

/** Decrypts the settings with the account's own key: the document, or its JSON. */
export type Decrypt = (encrypted: string) => unknown;

/** What opens encrypted settings: an `AccountContent` of gatehouse/client, or a function. */
export type SettingsKey = Pick<AccountContent, 'open'> | Decrypt;

/**
 * The settings cannot be read, so what they allow is unknown: sending by the defaults could
 * show what the person chose to hide.
 */
export class SettingsUnreadable extends Error {
  override readonly name = 'SettingsUnreadable';
}

/**
 * The settings document of an account; an empty one where nothing was saved yet.
 *
 * @param key needed for an e2ee account; its errors count as unreadable settings
 * @throws SettingsUnreadable
 */
export async function openSettings(
  content: SettingsContent,
  key?: SettingsKey,
): Promise<Readonly<Record<string, unknown>>> {
  if (content === null) {
    return {};
  }
  const document = content.t === 'plain' ? content.v : await decrypted(content.c, key);
  const fields = typeof document === 'string' ? parseJson(document) : document;
  if (typeof document === 'string' && fields === undefined) {
    throw new SettingsUnreadable('The settings are not JSON.');
  }
  if (!isRecord(fields)) {
    throw new SettingsUnreadable('The settings are not a JSON object.');
  }
  return fields;
}

async function decrypted(sealed: string, key?: SettingsKey): Promise<unknown> {
  if (key === undefined) {
    throw new SettingsUnreadable(
      'The settings are end-to-end encrypted, and there is no device key to open them with.',
    );
  }
  try {
    return await (typeof key === 'function' ? key(sealed) : key.open('settings', sealed));
  } catch (cause) {
    const why = cause instanceof ContentUnreadable ? ` ${cause.message}` : '';
    throw new SettingsUnreadable(`The settings could not be decrypted.${why}`, { cause });
  }
}
