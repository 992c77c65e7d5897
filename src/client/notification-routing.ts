import { parseServerUrl } from './api-client-transport.js';
import type { NotificationTarget } from './notification-target.js';

/** What this device knows of servers. Addresses are compared as {@link parseServerUrl} reads them. */
export interface DeviceServers {
  /** null before the first server is set up. */
  readonly active: string | null;
  readonly saved: readonly string[];
}

/** The screen a notification is about. */
export interface Destination {
  readonly serverUrl: string;
  readonly sessionId: string;
  /** null opens the session itself. */
  readonly requestId: string | null;
}

export type NotificationRoute =
  | { readonly step: 'open'; readonly destination: Destination }
  /** Make it the active server, then open. */
  | { readonly step: 'switch-server'; readonly destination: Destination }
  /** Set it up as the device's first server, then open. */
  | { readonly step: 'bootstrap-server'; readonly destination: Destination }
  /** Show the server settings with the address filled in; go on with {@link continueAfterAdding}. */
  | {
      readonly step: 'add-server';
      readonly prefilledUrl: string;
      readonly destination: Destination;
    };

/** Where a tap leads, depending on whose server it is (specification, Events 7 and 8). */
export function routeNotification(
  { serverUrl, sessionId, requestId }: NotificationTarget,
  device: DeviceServers,
): NotificationRoute {
  const destination = { serverUrl, sessionId, requestId };
  if (isSameServer(device.active, serverUrl)) {
    return { step: 'open', destination };
  }
  if (isKnownServer(serverUrl, device)) {
    return { step: 'switch-server', destination };
  }
  const isFirst = device.active === null && device.saved.length === 0;
  return isFirst
    ? { step: 'bootstrap-server', destination }
    : { step: 'add-server', prefilledUrl: serverUrl, destination };
}

/**
 * Where to go on after a server was added for a notification; null when the person changed the
 * address, for the session is not on that server (specification, Events 8).
 */
export function continueAfterAdding(
  destination: Destination,
  addedServerUrl: string,
): Destination | null {
  return isSameServer(addedServerUrl, destination.serverUrl) ? destination : null;
}

/** Whether the server is the active one or saved on this device. */
export function isKnownServer(serverUrl: string, { active, saved }: DeviceServers): boolean {
  return [active, ...saved].some((known) => isSameServer(known, serverUrl));
}

/** Whether two addresses are of one server, however they are written. */
export function isSameServer(one: string | null, other: string | null): boolean {
  const [left, right] = [one, other].map((text) => (text === null ? null : parseServerUrl(text)));
  return left !== null && left === right;
}
