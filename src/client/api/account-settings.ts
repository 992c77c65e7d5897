import { parseJson } from '../../common/parse-json.js';
import type { AccountContent } from '../crypto/account-content.js';
import { isRecord } from '../is-record.js';
import type { GatehouseClient } from './api-client.js';

/** An account's settings as `GET /v2/account/settings` returns them. */
export type SettingsContent =
  | { readonly t: 'plain'; readonly v: unknown }
  | { readonly t: 'encrypted'; readonly c: string }
  | null;

/** The settings document: all fields, also those of other clients. */
export type SettingsFields = Readonly<Record<string, unknown>>;

/** Decrypts the settings with the account's own key: the document, or its JSON. */
export type Decrypt = (encrypted: string) => unknown;

/** The key or function that decrypts encrypted settings. */
export type SettingsKey = Pick<AccountContent, 'open'> | Decrypt;

/**
 * The settings cannot be read, so the preferences are unknown: defaults could reveal text that the
 * person chose to hide.
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
): Promise<SettingsFields> {
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
    // Compared by name, because importing the class would load the cryptography.
    const isExplained = cause instanceof Error && cause.name === 'ContentUnreadable';
    const why = isExplained ? ` ${cause.message}` : '';
    throw new SettingsUnreadable(`The settings could not be decrypted.${why}`, { cause });
  }
}

/** Each attempt lost to a concurrent change; the settings are unchanged. */
export class SettingsConflict extends Error {
  override readonly name = 'SettingsConflict';

  constructor() {
    super('The settings keep changing. Try again in a moment.');
  }
}

const MAX_WRITES = 5;

/**
 * Changes the account's settings where their version is still the one that was read; after a
 * concurrent change it reads them again and applies `change` to those.
 *
 * @param client with the account's token
 * @param content opens and seals the settings of an end-to-end encrypted account; null = they are plain
 * @param change returns all fields, those it does not know included; the same object = nothing to write
 * @returns the fields as they are now
 * @throws SettingsUnreadable, SettingsConflict, and what `change` throws
 */
export async function changeSettings(
  client: Pick<GatehouseClient, 'settings'>,
  content: AccountContent | null,
  change: (fields: SettingsFields) => SettingsFields | Promise<SettingsFields>,
): Promise<SettingsFields> {
  for (let tries = 0; tries < MAX_WRITES; tries += 1) {
    const stored = await client.settings.read();
    const before = await openSettings(stored.content, content ?? undefined);
    const fields = await change(before);
    if (fields === before) {
      return fields;
    }
    const written = await client.settings.write(
      content === null
        ? { t: 'plain', v: fields }
        : { t: 'encrypted', c: content.seal('settings', fields) },
      stored.version,
    );
    if (written.success) {
      return fields;
    }
  }
  throw new SettingsConflict();
}
