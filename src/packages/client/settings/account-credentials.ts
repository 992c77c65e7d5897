import type { CredentialRoutes } from '../api/account-routes.js';
import type { AccountContent } from '../crypto/account-content.js';
import { modeOf, SettingsRefused, withoutKey, type SettingsAccess } from './account-settings.js';

/** A client with the account's token. */
interface CredentialClient {
  readonly credentials: Pick<CredentialRoutes, 'find' | 'put'>;
}

/**
 * Reads the credential of a connected service. As with settings, a device whose mode is `e2ee` reads
 * sealed ones only.
 *
 * @param access null on a device that has no key of the account, and has had none
 * @throws SettingsRefused (`plain`, `encrypted`), SettingsUnreadable, ContentUnreadable
 */
export async function readCredential(
  client: CredentialClient,
  access: SettingsAccess | null,
  service: string,
): Promise<unknown> {
  const own = await modeFor(access);
  const { content } = await client.credentials.find(service);
  if (content.t === 'plain') {
    if (own.mode === 'e2ee') {
      throw new SettingsRefused('plain');
    }
    return content.v;
  }
  if (own.mode === 'plain') {
    throw new SettingsRefused('encrypted');
  }
  return keyOf(own).open(`credential:${service}`, content.c);
}

/**
 * Writes the credential of a connected service: sealed where the mode of this device is `e2ee`.
 *
 * @throws SettingsUnreadable where this device has no key to seal with
 */
export async function writeCredential(
  client: CredentialClient,
  access: SettingsAccess | null,
  service: string,
  value: unknown,
): Promise<void> {
  const own = await modeFor(access);
  await client.credentials.put(
    service,
    own.mode === 'e2ee'
      ? { t: 'encrypted', c: keyOf(own).seal(`credential:${service}`, value) }
      : { t: 'plain', v: value },
  );
}

async function modeFor(access: SettingsAccess | null) {
  const content = access?.content ?? null;
  const pin = access === null ? null : await access.pins.read();
  return { content, mode: modeOf(content, pin) };
}

/** @throws SettingsUnreadable */
function keyOf({ content }: { readonly content: AccountContent | null }): AccountContent {
  if (content === null) {
    throw withoutKey();
  }
  return content;
}
