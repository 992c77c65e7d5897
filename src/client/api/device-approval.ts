import type { DeviceKey } from '../crypto/device-key.js';
import { sealForDevice } from '../crypto/device-sealing.js';
import type { GatehouseClient } from './api-client.js';
import type { LoginAnswer, WaitingDevice } from './api-client-answers.js';
import { GatehouseProblem } from './problem.js';

/** The device key is not that of the account that approves. */
export class OtherAccountKey extends Error {
  override readonly name = 'OtherAccountKey';

  constructor() {
    super('This is not the device key of this account.');
  }
}

/**
 * Adds a device to an account with a device key. Logs in with the key first: the key is then known to
 * be that of the account, and the login is recent. The device gets its token only while this login's
 * session exists: use it from now on.
 *
 * @param client has a token of the account
 * @param device `publicKey` of the QR code, or one whose check words were compared
 * @returns the login; null where the server has no login with a device key, so that the token of
 *   `client` approved
 * @throws OtherAccountKey, DeviceSealError, and what `logIn` and `devices.approve` reject with
 */
export async function approveWithKey(
  client: GatehouseClient,
  device: Pick<WaitingDevice, 'id' | 'publicKey'>,
  { accountId, key }: { readonly accountId: string; readonly key: DeviceKey },
): Promise<LoginAnswer | null> {
  const sealed = await sealForDevice(device.publicKey, key.bytes);
  const login = await logInIfOffered(client, key);
  const own = login === null ? client : client.withToken(login.token);
  try {
    if (login !== null && login.accountId !== accountId) {
      throw new OtherAccountKey();
    }
    await own.devices.approve(device.id, sealed);
    return login;
  } catch (error) {
    // The session has no further use; a failure to end it is not the failure to report.
    await (login !== null && own.logOut().catch(() => undefined));
    throw error;
  }
}

async function logInIfOffered(
  client: GatehouseClient,
  key: DeviceKey,
): Promise<LoginAnswer | null> {
  try {
    return await client.logIn(key);
  } catch (error) {
    const code = error instanceof GatehouseProblem ? error.code : '';
    if (code === 'key-challenge-disabled') {
      return null;
    }
    // A key without an account.
    throw code === 'not-found' ? new OtherAccountKey() : error;
  }
}
