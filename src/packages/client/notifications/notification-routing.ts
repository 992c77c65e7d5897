import { parseServerUrl } from '../api/server-url.js';
import { isRecord } from '../../../core/protocol/is-record.js';

export type NotificationTopic = 'ready' | 'permission_request' | 'user_action_request';

/** The `data` of a notification, which the sender adds to its text. */
export interface NotificationTarget {
  readonly topic: NotificationTopic;
  /** As {@link parseServerUrl} returns it. */
  readonly serverUrl: string;
  readonly sessionId: string;
  /** null for ready events. */
  readonly requestId: string | null;
  readonly eventId: string | null;
  /** The digest of the request, which says what its sender asked; missing where it asked nothing. */
  readonly digest?: string;
  /** Only there where the request was answered: the notification replaces the one that asked. */
  readonly isResolved?: true;
}

const TOPICS: readonly NotificationTopic[] = ['ready', 'permission_request', 'user_action_request'];

/**
 * Reads the `data` of a push; null without a topic, a session and a web address. Anyone who knows a
 * push token can send to it, so every field is checked. By hand: a schema would triple the bundle of
 * an app that only routes notifications.
 */
export function readNotificationTarget(data: unknown): NotificationTarget | null {
  if (!isRecord(data)) {
    return null;
  }
  const topic = TOPICS.find((known) => known === data['topic']);
  const sessionId = idIn(data['sessionId']);
  const serverUrl = parseServerUrl(idIn(data['serverUrl']) ?? '');
  if (topic === undefined || sessionId === null || serverUrl === null) {
    return null;
  }
  const requestId = topic === 'ready' ? null : idIn(data['requestId']);
  const isResolved = data['resolved'] === 'true' ? ({ isResolved: true } as const) : {};
  const digest = idIn(data['digest']);
  const eventId = idIn(data['eventId']);
  const asked = digest === null ? {} : { digest };
  return { topic, serverUrl, sessionId, requestId, eventId, ...asked, ...isResolved };
}

function idIn(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** The servers of this device. Addresses are compared after {@link parseServerUrl}. */
export interface DeviceServers {
  /** null before the first server is set up. */
  readonly active: string | null;
  readonly saved: readonly string[];
}

/** The screen that a notification opens; `requestId` null opens the session itself. */
export type Destination = Pick<NotificationTarget, 'serverUrl' | 'sessionId' | 'requestId'>;

export type NotificationRoute =
  | { readonly step: 'open'; readonly destination: Destination }
  /** Make it the active server, then open. */
  | { readonly step: 'switch-server'; readonly destination: Destination }
  /** Set it up as the device's first server, then open. */
  | { readonly step: 'bootstrap-server'; readonly destination: Destination }
  /** Show the server settings with the address filled in; continue with {@link continueAfterAdding}. */
  | {
      readonly step: 'add-server';
      readonly prefilledUrl: string;
      readonly destination: Destination;
    };

/** Decides what a tap opens, by the server of the notification (specification, Events 7 and 8). */
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
 * The screen to open after a server was added for a notification; null when the user changed the
 * address, as the session is not on that server (specification, Events 8).
 */
export function continueAfterAdding(
  destination: Destination,
  addedServerUrl: string,
): Destination | null {
  return isSameServer(addedServerUrl, destination.serverUrl) ? destination : null;
}

export function isKnownServer(serverUrl: string, { active, saved }: DeviceServers): boolean {
  return [active, ...saved].some((known) => isSameServer(known, serverUrl));
}

export function isSameServer(one: string | null, other: string | null): boolean {
  const [left, right] = [one, other].map((text) => (text === null ? null : parseServerUrl(text)));
  return left !== null && left === right;
}

export type NotificationActionId = 'allow' | 'deny' | 'answer';

export interface NotificationAction {
  readonly id: NotificationActionId;
  readonly title: string;
  /** Every button opens the app at the targeted session (specification, Events 7). */
  readonly opensApp: true;
  readonly isDestructive: boolean;
}

export interface NotificationCategory {
  /** The `categoryId` that the sender sends. */
  readonly id: string;
  readonly actions: readonly NotificationAction[];
}

const action = (id: NotificationActionId, title: string): NotificationAction => ({
  id,
  title,
  opensApp: true,
  isDestructive: id === 'deny',
});

/** The buttons under a notification, by topic; null = none. Register these when the app starts. */
export const NOTIFICATION_CATEGORIES = {
  ready: null,
  permission_request: {
    id: 'permission_request',
    actions: [action('allow', 'Allow'), action('deny', 'Deny')],
  },
  user_action_request: { id: 'user_action_request', actions: [action('answer', 'Answer')] },
} as const satisfies Record<NotificationTopic, NotificationCategory | null>;

export interface PermissionAnswer {
  readonly serverUrl: string;
  readonly sessionId: string;
  readonly requestId: string;
  readonly decision: 'allow' | 'deny';
}

/** The effect of a button, or of tapping the notification itself (null). */
export interface ActionOutcome {
  readonly route: NotificationRoute;
  /** Send it to the target's server without asking again; null = the user decides in the app. */
  readonly answer: PermissionAnswer | null;
}

/**
 * Opens the app at the session. An answer is sent at once only to a server that this device already
 * knows: a push must not make it contact another one (specification, Events 7).
 */
export function actOnNotification(
  pressed: NotificationActionId | null,
  target: NotificationTarget,
  device: DeviceServers,
): ActionOutcome {
  const route = routeNotification(target, device);
  const { topic, serverUrl, sessionId, requestId } = target;
  const isDecision = pressed === 'allow' || pressed === 'deny';
  return isDecision &&
    topic === 'permission_request' &&
    requestId !== null &&
    isKnownServer(serverUrl, device)
    ? { route, answer: { serverUrl, sessionId, requestId, decision: pressed } }
    : { route, answer: null };
}
