import {
  readNotificationTarget,
  type NotificationActionId,
  type NotificationTarget,
} from '../../../packages/client/notifications/notification-routing.js';

/** Asks a page for its session: `{serverUrl, sessionId}` or null, sent to the port. */
export const VIEWING = 'gatehouse.viewing';

/** Shows a message like a received one: `{[SHOW]: message}`, answered to the port. */
export const SHOW = 'gatehouse.show';

/** The message of a clicked notification: `{[CLICKED]: target, pressed}`. */
export const CLICKED = 'gatehouse.clicked';

/** Asks the worker what opened this page: `{[OPENED_BY]: requestId}`; the port gets the button, or null. */
export const OPENED_BY = 'gatehouse.opened-by';

const BUTTONS: readonly NotificationActionId[] = ['allow', 'deny', 'answer'];

/** Returns the pressed button; null for none and for the notification itself. */
export const readButton = (value: unknown): NotificationActionId | null =>
  BUTTONS.find((button) => button === value) ?? null;

const MAX_ID_CHARACTERS = 128;
const NAMES = ['topic', 'serverUrl', 'sessionId', 'requestId', 'eventId'] as const;

/** The request is in the fragment, which servers and logs do not receive. */
export function pageAddress(page: string, target: NotificationTarget | null): string {
  const fields = NAMES.flatMap((name) => {
    const value = target?.[name] ?? null;
    return value === null ? [] : [[name, value]];
  });
  return fields.length === 0 ? page : `${page}#${String(new URLSearchParams(fields))}`;
}

/** Reads such an address. Anyone can create one, so ids are short and shown as text only. */
export function requestIn(address: string): NotificationTarget | null {
  const fields = new URLSearchParams(new URL(address).hash.slice(1));
  const target = readNotificationTarget(Object.fromEntries(fields));
  const ids = [target?.sessionId, target?.requestId ?? ''];
  return ids.every((id) => id !== undefined && id.length <= MAX_ID_CHARACTERS) ? target : null;
}
