import type { NotificationTarget } from '../../../../packages/client/notifications/notification-routing.js';
import type { ListedRequest } from '../../../../packages/client/approvals/request-routes.js';
import type { Pressed } from '../../worker/page-messages.js';

/** "Allow" was pressed under a notification, and the page has not decided on it yet. */
export interface PressedAllow {
  readonly target: NotificationTarget;
  readonly pressed: Pressed;
  /** Called once it is decided, so that it counts once. */
  readonly finish: () => void;
}

export interface WaitingRequests {
  /** The requests that wait; null where the server or the account takes none. */
  readonly waiting: readonly ListedRequest[] | null;
  readonly pressedAllow: PressedAllow | null;
}
