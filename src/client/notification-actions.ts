import { isKnownServer, routeNotification } from './notification-routing.js';
import type { DeviceServers, NotificationRoute } from './notification-routing.js';
import type { NotificationTarget, NotificationTopic } from './notification-target.js';

export type NotificationActionId = 'allow' | 'deny' | 'answer';

export interface NotificationAction {
  readonly id: NotificationActionId;
  readonly title: string;
  /** Every button opens the app at the targeted session (specification, Events 7). */
  readonly opensApp: true;
  readonly isDestructive: boolean;
}

export interface NotificationCategory {
  /** What the sender puts in `categoryId`. */
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

/** What pressing a button, or tapping the notification itself (null), does. */
export interface ActionOutcome {
  readonly route: NotificationRoute;
  /** What to send to the target's server without asking again; null = the person decides there. */
  readonly answer: PermissionAnswer | null;
}

/**
 * Opens the app at the session. An answer goes out by itself only to a server that this device
 * already knows: a push alone must not make it talk to another (specification, Events 7).
 */
export function actOnNotification(
  pressed: NotificationActionId | null,
  target: NotificationTarget,
  device: DeviceServers,
): ActionOutcome {
  const route = routeNotification(target, device);
  const { topic, serverUrl, sessionId, requestId } = target;
  const isDecision = pressed === 'allow' || pressed === 'deny';
  if (!isDecision || topic !== 'permission_request' || requestId === null) {
    return { route, answer: null };
  }
  return isKnownServer(serverUrl, device)
    ? { route, answer: { serverUrl, sessionId, requestId, decision: pressed } }
    : { route, answer: null };
}
