import type { AccountMode } from '../../policy/operator-policy.js';
import type { Content } from '../../protocol/content.js';
import type { AccountContent, ContentPurpose } from '../crypto/account-content.js';
import { SettingsConflict } from './account-settings.js';
import type { GatehouseClient } from './api-client.js';

const MAX_TRIES = 5;

/**
 * Changes the encryption mode of a keyed account, with everything that it stores: all of it, or
 * nothing. Refused with `account-optout-disabled` where the server leaves no choice.
 *
 * @param client with the account's token
 * @param content of the account's own key; one of another key would make the content unreadable
 * @throws ContentUnreadable where another client stored something in a form of its own,
 *   SettingsConflict
 */
export async function changeEncryption(
  client: Pick<GatehouseClient, 'settings' | 'credentials' | 'encryption'>,
  content: AccountContent,
  toMode: AccountMode,
): Promise<void> {
  const convert = (purpose: ContentPurpose, stored: Content): Content => {
    if (toMode === 'plain') {
      return stored.t === 'plain' ? stored : { t: 'plain', v: content.open(purpose, stored.c) };
    }
    return stored.t === 'plain' ? { t: 'encrypted', c: content.seal(purpose, stored.v) } : stored;
  };
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const stored = await client.settings.read();
    const credentials = await client.credentials.list();
    const answer = await client.encryption.migrate({
      toMode,
      expectedSettingsVersion: stored.version,
      settings: stored.content === null ? null : convert('settings', stored.content),
      credentials: credentials.map(({ service, content: one }) => ({
        service,
        content: convert(`credential:${service}`, one),
      })),
    });
    if (answer.success) {
      return;
    }
  }
  throw new SettingsConflict();
}
