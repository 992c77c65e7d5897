import type { GatehouseClient } from '../api/api-client.js';
import type { SettingsAccess } from '../settings/account-settings.js';
import { confirmOwnReceiver, type ReceiversClient } from '../settings/receivers.js';
import {
  actOnNotification,
  isKnownServer,
  type DeviceServers,
  type NotificationActionId,
  type NotificationRoute,
  type NotificationTarget,
} from '../notifications/notification-routing.js';
import { registersPushToken, type BuildFacts } from '../notifications/notification-display.js';
import type { AccountRequests } from './account-requests.js';
import { answerRequest, openRequest } from './answer-request.js';

/** A server that this device knows, signed in to an account. */
export interface KnownAccount {
  readonly client: Pick<GatehouseClient, 'requests'>;
  /** null where this device has no key of the account. */
  readonly requests: AccountRequests | null;
}

/** The effect of a pressed button. `open`: follow the route, and let the person decide there. */
export type NotificationAnswer =
  | { readonly step: 'denied'; readonly isSigned: boolean }
  | { readonly step: 'open'; readonly route: NotificationRoute };

/**
 * Answers from a notification (specification, Events 7 and 8). A denial is sent at once if the
 * notification's server is the active or a saved one. Allow opens the request: it has to be read
 * first. Rejects as the routes do, for example with `already-answered`.
 *
 * @param accountAt the account of a known server
 */
export async function answerFromNotification(
  pressed: NotificationActionId | null,
  target: NotificationTarget,
  device: DeviceServers,
  accountAt: (serverUrl: string) => Promise<KnownAccount | null>,
): Promise<NotificationAnswer> {
  const { route, answer } = actOnNotification(pressed, target, device);
  const account = answer?.decision === 'deny' ? await accountAt(answer.serverUrl) : null;
  if (answer === null || account === null) {
    return { step: 'open', route };
  }
  const { client, requests } = account;
  const options = { requests, isKnownServer: (url: string) => isKnownServer(url, device) };
  const opened = await openRequest(client.requests, answer.requestId, options);
  if (opened.kind === 'opened') {
    await answerRequest(client.requests, requests, opened, 'deny');
    return { step: 'denied', isSigned: requests !== null && opened.isSealed };
  }
  if (opened.kind === 'no-key') {
    await client.requests.deny(answer.requestId);
    return { step: 'denied', isSigned: false };
  }
  return { step: 'open', route };
}

/** The address at which the app reaches the server, and what its owner knows the device by. */
export interface SavedDevice {
  /**
   * With the key of the account, the token is confirmed, too: senders then show text on this device.
   * Pass it as soon as the device has the key; a token that was saved before is confirmed then.
   */
  readonly access?: SettingsAccess | null;
  readonly clientServerUrl?: string;
  readonly name?: string;
  readonly platform?: string;
}

/**
 * Saves the push token of an app, unless this is a development build without
 * `CLIENT_PUBLIC_ENABLE_DEV_PUSH_TOKEN_REGISTRATION` (specification, Events 11).
 *
 * @returns false where nothing was saved
 */
export async function registerPushToken(
  client: Pick<GatehouseClient, 'savePushToken'> & ReceiversClient,
  token: string,
  build: BuildFacts,
  { clientServerUrl, access = null, ...device }: SavedDevice = {},
): Promise<boolean> {
  if (!registersPushToken(build)) {
    return false;
  }
  await client.savePushToken(token, clientServerUrl, device);
  await confirmOwnReceiver(client, access, token);
  return true;
}
