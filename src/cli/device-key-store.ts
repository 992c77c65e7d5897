import { DeviceKey } from '../client/device-key.js';
import type { ServerStore } from './server-store.js';

/** The key is on disk before the server hears of it: an account whose key got lost is lost. */
export async function deviceKeyFor(server: string, store: ServerStore): Promise<DeviceKey> {
  const stored = await store.deviceKey(server);
  const kept =
    stored ?? (await store.keepNewDeviceKey(server, (await DeviceKey.generate()).toJwk()));
  return DeviceKey.fromJwk(kept);
}
