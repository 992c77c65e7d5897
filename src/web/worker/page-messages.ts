import {
  readNotificationTarget,
  type NotificationTarget,
} from '../../client/notifications/notification-routing.js';

/** Asks a page for the session it shows: `{serverUrl, sessionId}` or null, to the port given. */
export const VIEWING = 'gatehouse.viewing';

/** Asks the worker to show a message as one that arrived: `{[SHOW]: message}`, answered to the port. */
export const SHOW = 'gatehouse.show';

const MAX_ID_CHARACTERS = 128;
const NAMES = ['topic', 'serverUrl', 'sessionId', 'requestId', 'eventId'] as const;

/** The account page, with a request in the fragment: servers and logs do not see it. */
export function pageAddress(page: string, target: NotificationTarget | null): string {
  const fields = NAMES.flatMap((name) => {
    const value = target?.[name] ?? null;
    return value === null ? [] : [[name, value]];
  });
  return fields.length === 0 ? page : `${page}#${String(new URLSearchParams(fields))}`;
}

/** Reads such an address. Anyone can make one: ids are short, and shown as text. */
export function requestIn(address: string): NotificationTarget | null {
  const fields = new URLSearchParams(new URL(address).hash.slice(1));
  const target = readNotificationTarget(Object.fromEntries(fields));
  const ids = [target?.sessionId, target?.requestId ?? ''];
  return ids.every((id) => id !== undefined && id.length <= MAX_ID_CHARACTERS) ? target : null;
}
