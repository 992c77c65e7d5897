import { confirmReceivers } from '../../../../packages/client/settings/receivers.js';
import type { GatehouseClient } from '../../../../packages/client/api/api-client.js';
import { pinsOf } from '../account-pins.js';
import { rememberedKey } from '../key-memory.js';

/**
 * Removes the confirmations of removed devices, where this tab has the key. Otherwise, and where that
 * fails, the section with the notifications removes them when the settings are opened.
 */
export async function forgetRemoved(client: GatehouseClient, accountId: string): Promise<void> {
  const key = rememberedKey(accountId);
  if (key === null) {
    return;
  }
  try {
    const { AccountContent } =
      await import('../../../../packages/client/crypto/account-content.js');
    const content = new AccountContent(key.bytes, accountId);
    await confirmReceivers(client, { content, pins: pinsOf(accountId) }, []);
  } catch {
    // The device itself was removed.
  }
}
