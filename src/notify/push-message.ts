import { hash } from 'node:crypto';
import { NOTIFICATION_CATEGORIES } from '../client/notification-actions.js';
import { ANDROID_CHANNELS } from '../client/notification-platform.js';
import type { NotificationTarget } from '../client/notification-target.js';
import type { Content } from './content.js';
import type { NotificationEvent } from './notification-event.js';
import { shortenToFit, utf8Length } from './shorten.js';

/** A message of the push service, in its own field names. */
export interface PushMessage {
  readonly to: string;
  readonly title: string;
  readonly subtitle?: string;
  readonly body: string;
  readonly data: Readonly<Record<keyof NotificationTarget, string | null>>;
  readonly sound: 'default';
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

/** The push service refuses more, everything in it counted. */
export const PUSH_BUDGET_BYTES = 4096;

/**
 * The message for one device (specification, Events 5, 6 and 10). Its text is shortened so that the
 * whole fits into 4096 bytes; what routes a tap is never touched.
 */
export function pushMessage(
  event: NotificationEvent,
  content: Content,
  { token, serverUrl }: PushAddress,
  ttlSeconds: number,
): PushMessage {
  const frame = { ...frameOf(event, content), to: token, ttl: ttlSeconds };
  const data = routing(event, serverUrl);
  const room = PUSH_BUDGET_BYTES - utf8Length(JSON.stringify({ ...frame, data, body: '' }));
  const body = shortenToFit(
    content.body,
    room,
    (shorter) => utf8Length(JSON.stringify(shorter)) - '""'.length <= room,
  );
  return { ...frame, data, body };
}

function routing(event: NotificationEvent, serverUrl: string): PushMessage['data'] {
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

/**
 * Notifications of one id replace each other on the device: the readiness of one session, or one
 * request. So a message that was accepted twice is still seen once. Apple takes at most 64 bytes.
 */
function collapseIdOf({ serverUrl, topic, session, request }: NotificationEvent): string {
  const subject = [serverUrl, topic, session.sessionId, request?.requestId ?? ''];
  return hash('sha256', JSON.stringify(subject), 'base64url');
}
