import { isRecord } from '../../../core/protocol/is-record.js';
import {
  readNotificationTarget,
  type NotificationActionId,
  type NotificationTarget,
} from '../../../packages/client/notifications/notification-routing.js';

/** Asks a page for its session: `{serverUrl, sessionId}` or null, sent to the port. */
export const VIEWING = 'gatehouse.viewing';

/** Shows a message like a received one: `{[SHOW]: message}`, answered to the port. */
export const SHOW = 'gatehouse.show';

/** The message of a clicked notification: `{[CLICKED]: clicked}`, with a {@link Clicked}. */
export const CLICKED = 'gatehouse.clicked';

/** Asks the worker what opened this page: `{[OPENED_BY]: requestId}`; the port gets {@link Clicked}, or null. */
export const OPENED_BY = 'gatehouse.opened-by';

/** A button under a notification, and the text that the browser displayed above it. */
export interface Pressed {
  readonly button: NotificationActionId;
  readonly title: string;
  readonly body: string;
}

/** A clicked notification. */
export interface Clicked {
  readonly target: NotificationTarget;
  /** null where the notification itself was clicked. */
  readonly pressed: Pressed | null;
}

const BUTTONS: readonly NotificationActionId[] = ['allow', 'deny', 'answer'];

/** Reads a {@link Clicked}; null where there is no target. */
export function readClicked(value: unknown): Clicked | null {
  const { target: data, pressed } = isRecord(value) ? value : {};
  const target = readNotificationTarget(data);
  return target === null ? null : { target, pressed: readPressed(pressed) };
}

export function readPressed(value: unknown): Pressed | null {
  const { button: named, title, body } = isRecord(value) ? value : {};
  const button = BUTTONS.find((one) => one === named);
  return button === undefined || typeof title !== 'string' || typeof body !== 'string'
    ? null
    : { button, title, body };
}

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
