import type { GatehouseClient } from '../api/api-client.js';
import type { LoginAnswer, WaitingDevice } from '../api/api-client-answers.js';
import { onRefusal } from '../api/problem.js';
import type { DeviceKey } from '../crypto/device-key.js';
import { OtherAccountKey } from '../crypto/key-text.js';
import type { AccountPin } from '../settings/account-pin.js';
import type { DeviceLink } from './device-link.js';
import { DeviceSealError, sealAccount } from './device-sealing.js';
import { checkDeviceServer } from './device-server.js';

/** The account of the device that approves. */
export interface ApprovingAccount {
  readonly accountId: string;
  /** null for an account without a device key. */
  readonly key: DeviceKey | null;
  /** The pin of this device; null = none. */
  readonly pin: AccountPin | null;
}

export interface DeviceApproval {
  /** The login with the key: use it from now on. null for an account without one. */
  readonly login: LoginAnswer | null;
  /**
   * Show them until the new device is added: the person types the first three there. null for a link.
   */
  readonly words: readonly string[] | null;
}

/**
 * Adds a device to an account. With a key it signs in first: the key is then known to be that of the
 * account, and the login is recent. The device gets its token only while the approving session exists.
 *
 * @param client has a token of the account
 * @param device of `findDevice`
 * @param link null for a typed code: then only after the person compared the words of
 *   `deviceKeyWords` on both screens
 * @throws DeviceServerRefused, DeviceSealError, OtherAccountKey, and what `logIn` and `devices.approve` reject with
 */
export async function approveDevice(
  client: GatehouseClient,
  device: WaitingDevice,
  { accountId, key, pin }: ApprovingAccount,
  link: DeviceLink | null,
): Promise<DeviceApproval> {
  checkDeviceServer(device, client.serverUrl);
  if (link !== null && link.publicKey !== device.publicKey) {
    throw new DeviceSealError('other-key');
  }
  const encryptionMode = key === null ? 'plain' : (pin?.mode ?? 'e2ee');
  const account = { accountId, encryptionMode, key, settings: pin?.settings ?? null } as const;
  const { sealed, words } = await sealAccount(device, account, link?.linkSecret ?? null);
  if (key === null) {
    await client.devices.approve(device.id, sealed);
    return { login: null, words };
  }
  const login = await client.logIn(key).catch(refuseOther);
  const own = client.withToken(login.token);
  try {
    if (login.accountId !== accountId) {
      throw new OtherAccountKey();
    }
    await own.devices.approve(device.id, sealed);
    return { login, words };
  } catch (error) {
    // The session has no further use; a failure to end it is not the failure to report.
    await own.logOut().catch(() => undefined);
    throw error;
  }
}

/** A key without an account is not the key of this account. */
const refuseOther = onRefusal(['not-found'], () => {
  throw new OtherAccountKey();
});
