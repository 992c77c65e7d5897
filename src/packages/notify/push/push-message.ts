import { ANDROID_CHANNELS } from '../../client/notifications/notification-display.js';
import {
  NOTIFICATION_CATEGORIES,
  type NotificationTarget,
} from '../../client/notifications/notification-routing.js';
import { readWebPushToken } from '../../client/notifications/web-push.js';
import { collapseIdOf } from '../content/collapse-id.js';
import type { Content } from '../content/content.js';
import type { NotificationEvent } from '../content/notification-event.js';
import { shortenToFit, utf8Length } from '../content/text.js';

const WRAPPED = /^Expo(?:nent)?PushToken\[[\x21-\x7e]{1,200}\]$/;
const PLAIN = /^[a-z\d]{8}(?:-[a-z\d]{4}){3}-[a-z\d]{12}$/i;
const SHOWN_CHARACTERS = 4;

/** Returns true if the token has the form of a push token of an app or a browser. */
export function isPushToken(token: string): boolean {
  return WRAPPED.test(token) || PLAIN.test(token) || readWebPushToken(token) !== null;
}

/** With the whole token, anyone could send to the device. */
export function maskedToken(token: string): string {
  const subscription = readWebPushToken(token);
  if (subscription !== null) {
    const { endpoint } = subscription;
    return `${new URL(endpoint).hostname} …${endpoint.slice(-SHOWN_CHARACTERS)}`;
  }
  const inner = /\[(.*)\]$/.exec(token)?.[1] ?? token;
  return `…${inner.slice(-SHOWN_CHARACTERS)}`;
}

/** A message of the push service, in its own field names. */
export interface PushMessage {
  readonly to: string;
  readonly title: string;
  readonly subtitle?: string | undefined;
  readonly body: string;
  readonly data: Readonly<
    Record<Exclude<keyof NotificationTarget, 'digest' | 'isResolved'>, string | null>
  > & { readonly digest?: string; readonly resolved?: 'true' };
  readonly sound: 'default' | null;
  readonly interruptionLevel?: 'passive';
  /** Seconds. */
  readonly ttl: number;
  readonly priority: 'default' | 'high';
  readonly channelId: string;
  readonly categoryId?: string;
  readonly collapseId: string;
  readonly tag: string;
}

export interface PushAddress {
  readonly token: string;
  /** Address of the server in the app on that device. */
  readonly serverUrl: string;
}

/** The push service adds fields and escapes `data` once more, within its limit of 4096 bytes. */
export const PUSH_BUDGET_BYTES = 3072;

/** The text is shortened to the budget; the data that routes a tap is never shortened. */
export function pushMessage(
  event: NotificationEvent,
  content: Content,
  { token, serverUrl }: PushAddress,
  ttlSeconds: number,
): PushMessage {
  const frame = { ...frameOf(event, content), to: token, ttl: ttlSeconds };
  const data = routingOf(event, serverUrl);
  const room = PUSH_BUDGET_BYTES - utf8Length(JSON.stringify({ ...frame, data, body: '' }));
  const body = shortenToFit(
    content.body,
    room,
    (shorter) => utf8Length(JSON.stringify(shorter)) - '""'.length <= room,
  );
  return { ...frame, data, body };
}

export function routingOf(event: NotificationEvent, serverUrl: string): NotificationTarget {
  const { topic, session, request, id } = event;
  const { sessionId } = session;
  const { requestId = null, digest } = request ?? {};
  const asked = digest === undefined ? {} : { digest };
  return { topic, serverUrl, sessionId, requestId, eventId: id, ...asked };
}

function frameOf(event: NotificationEvent, { title, subtitle }: Content) {
  const { topic } = event;
  const category = NOTIFICATION_CATEGORIES[topic];
  const collapseId = collapseIdOf(event);
  return {
    title,
    ...(subtitle !== null && { subtitle }),
    sound: 'default',
    priority: topic === 'ready' ? 'default' : 'high',
    channelId: ANDROID_CHANNELS[topic].id,
    ...(category !== null && { categoryId: category.id }),
    collapseId,
    tag: collapseId,
  } as const;
}
