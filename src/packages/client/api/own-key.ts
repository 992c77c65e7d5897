import type { DeviceKey } from '../crypto/device-key.js';
import { OtherAccountKey } from '../crypto/key-text.js';
import type { GatehouseClient } from './api-client.js';
import { nullIfNotFound } from './problem.js';

/**
 * Checks that a key is that of the account: content that is sealed with another one is lost.
 *
 * @throws OtherAccountKey
 */
export async function requireOwnKey(
  client: GatehouseClient,
  key: DeviceKey,
  accountId: string,
): Promise<void> {
  const login = await client.logIn(key).catch(nullIfNotFound);
  if (login !== null) {
    await client.withToken(login.token).logOut();
  }
  if (login?.accountId !== accountId) {
    throw new OtherAccountKey();
  }
}
