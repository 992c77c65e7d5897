import type { DeviceKey } from '../crypto/device-key.js';
import { sealForDevice } from '../crypto/device-sealing.js';
import { OtherAccountKey } from '../crypto/key-text.js';
import type { GatehouseClient } from './api-client.js';
import type { LoginAnswer, WaitingDevice } from './api-client-answers.js';
import { GatehouseProblem } from './problem.js';

/**
 * Adds a device to an account with a device key. Logs in with the key first: the key is then known to
 * be that of the account, and the login is recent. The device gets its token only while this login's
 * session exists: use it from now on.
 *
 * @param client has a token of the account
 * @param device `publicKey` of the QR code, or one whose check words were compared
 * @throws OtherAccountKey, DeviceSealError, and what `logIn` and `devices.approve` reject with
 */
export async function approveWithKey(
  client: GatehouseClient,
  device: Pick<WaitingDevice, 'id' | 'publicKey'>,
  { accountId, key }: { readonly accountId: string; readonly key: DeviceKey },
): Promise<LoginAnswer> {
  const sealed = await sealForDevice(device.publicKey, key.bytes);
  const login = await client.logIn(key).catch(explained);
  const own = client.withToken(login.token);
  try {
    if (login.accountId !== accountId) {
      throw new OtherAccountKey();
    }
    await own.devices.approve(device.id, sealed);
    return login;
  } catch (error) {
    // The session has no further use; a failure to end it is not the failure to report.
    await own.logOut().catch(() => undefined);
    throw error;
  }
}

/** A key without an account is not the key of this account. */
function explained(error: unknown): never {
  const hasNoAccount = error instanceof GatehouseProblem && error.code === 'not-found';
  throw hasNoAccount ? new OtherAccountKey() : error;
}
