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
import {
  whyAskedAgain,
  type AskedAgain,
  type DisplayedNotification,
} from './allow-from-notification.js';
import { answerRequest, openRequest } from './answer-request.js';

/** A server that this device knows, signed in to an account. */
export interface KnownAccount {
  readonly client: Pick<GatehouseClient, 'requests'>;
  /** null where this device has no key of the account. */
  readonly requests: AccountRequests | null;
}

/**
 * The effect of a pressed button. `open`: follow the route, and let the person decide there; say why
 * after Allow.
 */
export type NotificationAnswer =
  | { readonly step: 'denied'; readonly isSigned: boolean }
  | { readonly step: 'allowed' }
  | { readonly step: 'open'; readonly route: NotificationRoute; readonly why?: AskedAgain };

/**
 * Answers from a notification (specification, Events 7 and 8). An answer is sent at once only if the
 * notification's server is the active or a saved one; Allow only if the notification also showed the
 * whole request, to a person who is authenticated to the device. Otherwise the request opens.
 * Rejects as the routes do, for example with `already-answered`.
 *
 * @param accountAt the account of a known server
 * @param displayed null where the system does not say what it displayed
 */
export async function answerFromNotification(
  pressed: NotificationActionId | null,
  target: NotificationTarget,
  device: DeviceServers,
  accountAt: (serverUrl: string) => Promise<KnownAccount | null>,
  displayed: DisplayedNotification | null = null,
): Promise<NotificationAnswer> {
  const { route, answer } = actOnNotification(pressed, target, device);
  const account = answer === null ? null : await accountAt(answer.serverUrl);
  if (answer === null || account === null) {
    return { step: 'open', route };
  }
  const { client, requests } = account;
  const options = { requests, isKnownServer: (url: string) => isKnownServer(url, device) };
  const opened = await openRequest(client.requests, answer.requestId, options);
  if (answer.decision === 'allow') {
    if (opened.kind !== 'opened') {
      return { step: 'open', route, why: 'other-request' };
    }
    const why = whyAskedAgain(opened, target, displayed ?? NOT_DISPLAYED);
    if (why !== null) {
      return { step: 'open', route, why };
    }
    await answerRequest(client.requests, requests, opened, 'allow');
    return { step: 'allowed' };
  }
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

const NOT_DISPLAYED: DisplayedNotification = {
  title: null,
  subtitle: null,
  body: null,
  isAuthenticated: false,
};

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
