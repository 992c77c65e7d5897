/** An account's settings as `GET /v2/account/settings` gives them. */
export type SettingsContent =
  | { readonly t: 'plain'; readonly v: unknown }
  | { readonly t: 'encrypted'; readonly c: string }
  | null;

/** Opens what only the account itself can: gives the settings document, or its JSON. */
export type Decrypt = (encrypted: string) => unknown;

/**
 * The settings cannot be read, so nobody knows what they allow: sending by the defaults could show
 * what the person chose to hide.
 */
export class SettingsUnreadable extends Error {
  override readonly name = 'SettingsUnreadable';
}

/**
 * The settings document of an account; an empty one where nothing was saved yet.
 *
 * @param decrypt needed for an e2ee account; its errors count as unreadable settings
 * @throws SettingsUnreadable
 */
export async function openSettings(content: SettingsContent, decrypt?: Decrypt): Promise<unknown> {
  if (content === null) {
    return {};
  }
  if (content.t === 'plain') {
    return parsed(content.v);
  }
  if (decrypt === undefined) {
    throw new SettingsUnreadable('The settings are encrypted, and nothing was given to open them.');
  }
  let opened: unknown;
  try {
    opened = await decrypt(content.c);
  } catch (error) {
    throw new SettingsUnreadable('The settings could not be decrypted.', { cause: error });
  }
  return parsed(opened);
}

function parsed(document: unknown): unknown {
  if (typeof document !== 'string') {
    return document;
  }
  try {
    return JSON.parse(document);
  } catch {
    // The parser's own error quotes the settings, secrets included.
    throw new SettingsUnreadable('The settings are not JSON.');
  }
}
