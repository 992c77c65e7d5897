import { ANDROID_CHANNELS } from '../../client/notifications/notification-display.js';
import {
  NOTIFICATION_CATEGORIES,
  type NotificationTarget,
} from '../../client/notifications/notification-routing.js';
import { readWebPushToken } from '../../client/notifications/web-push.js';
import { collapseIdOf } from '../content/collapse-id.js';
import type { Content } from '../content/content.js';
import type { PushDelivery } from '../delivery/delivery.js';
import type { NotificationEvent } from '../content/notification-event.js';
import { shortenToFit, utf8Length } from '../content/text.js';

const WRAPPED = /^Expo(?:nent)?PushToken\[[\x21-\x7e]{1,200}\]$/;
const PLAIN = /^[a-z\d]{8}(?:-[a-z\d]{4}){3}-[a-z\d]{12}$/i;
const SHOWN_CHARACTERS = 4;

/** Whether an app or a browser can have this token, by its shape. */
export function isPushToken(token: string): boolean {
  return WRAPPED.test(token) || PLAIN.test(token) || readWebPushToken(token) !== null;
}

/** A token as it may be shown: a whole one lets anyone send to that device. */
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
    Record<Exclude<keyof NotificationTarget, 'isResolved'>, string | null>
  > & {
    readonly resolved?: 'true';
  };
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
  /** The server as the app on that device knows it. */
  readonly serverUrl: string;
}

/**
 * The push service takes 4096 bytes of what it makes of a message for a phone: with fields of its
 * own, and with quotes in `data` escaped once more. So a quarter stays free.
 */
export const PUSH_BUDGET_BYTES = 3072;

/**
 * The message for one device (specification, Events 5, 6 and 10). Its text is shortened so that the
 * whole fits into the budget; what routes a tap is never touched.
 */
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

/**
 * A delivery as it is sent once the push service has refused it as too large: without anything of
 * its event but what routes a tap. Null where it is that already.
 */
export function genericDelivery(delivery: PushDelivery): PushDelivery | null {
  const { generic, ...rest } = delivery;
  if (generic === undefined) {
    return null;
  }
  const message = { ...delivery.message, ...generic, subtitle: undefined };
  return { ...rest, message, isPreview: false };
}

/** What a tap on the notification opens. */
export function routingOf(event: NotificationEvent, serverUrl: string): NotificationTarget {
  const { topic, session, request, id } = event;
  const { sessionId } = session;
  return { topic, serverUrl, sessionId, requestId: request?.requestId ?? null, eventId: id };
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
