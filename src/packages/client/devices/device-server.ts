import { DEVICE_VERSION, readOrigins } from '../../../core/protocol/device-version.js';
import type { GatehouseClient } from '../api/api-client.js';
import type { DeviceRequest, WaitingDevice } from '../api/api-client-answers.js';
import { serverAddressOf } from '../api/server-url.js';
import { listsServer, otherServer } from '../crypto/server-origins.js';
import { isRecord } from '../../../core/protocol/is-record.js';
import type { NewDevice } from './device-routes.js';

/**
 * Nothing was sealed and no code was shown. `older-server`: it adds devices in version 1, in which it
 * could take the account. `other-server`: it may relay the device of another one.
 */
export class DeviceServerRefused extends Error {
  override readonly name = 'DeviceServerRefused';

  constructor(
    readonly reason: 'older-server' | 'other-server',
    message: string,
  ) {
    super(message);
  }
}

type DeviceClient = Pick<GatehouseClient, 'devices' | 'serverUrl'>;

/**
 * Requests to add a new device: show the user code or its link, then poll for the token.
 *
 * @throws DeviceServerRefused
 */
export async function requestDevice(
  client: DeviceClient,
  device: NewDevice,
): Promise<DeviceRequest> {
  const request = await client.devices.request(device);
  checkDeviceServer(request, client.serverUrl);
  return request;
}

/**
 * Finds the device that waits with a user code. The server can forge its key: use the key of the
 * link, or compare the words of `deviceKeyWords`.
 *
 * @throws DeviceServerRefused
 */
export async function findDevice(client: DeviceClient, userCode: string): Promise<WaitingDevice> {
  const device = await client.devices.find(userCode);
  checkDeviceServer(device, client.serverUrl);
  return device;
}

/** Checks what a server says of itself when a device is added. @throws DeviceServerRefused */
export function checkDeviceServer(answer: unknown, serverUrl: string): void {
  const { v, origins } = isRecord(answer) ? answer : {};
  const listed = readOrigins(origins);
  if (v !== DEVICE_VERSION || listed === null) {
    const { origin } = serverAddressOf(serverUrl);
    const message = `${origin} adds devices in an older version, which is not safe. Update the server.`;
    throw new DeviceServerRefused('older-server', message);
  }
  if (!listsServer(listed, serverUrl)) {
    throw new DeviceServerRefused('other-server', otherServer('The answer', serverUrl, listed));
  }
}
