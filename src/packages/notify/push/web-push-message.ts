import type { ForegroundBehavior } from '../../client/notifications/notification-display.js';
import type { WebPushMessage } from '../../client/notifications/web-push.js';
import type { Content } from '../content/content.js';
import type { NotificationEvent } from '../content/notification-event.js';
import { shortenToFit, utf8Length } from '../content/text.js';
import { collapseIdOf } from '../content/collapse-id.js';
import { routingOf } from './push-message.js';
import { WEB_PUSH_BUDGET_BYTES } from './web-push-encryption.js';

/** An unencrypted message to a push service (RFC 8030). */
export interface WebPushRequest {
  /** JSON of a `WebPushMessage`, which the browser's service worker reads. */
  readonly text: string;
  /** Without parts of variable length, for a push service that refuses the text as too large. */
  readonly generic: string;
  /** Seconds. */
  readonly ttl: number;
  readonly urgency: 'normal' | 'high';
  /** A message replaces a waiting one of the same topic: 32 characters of base64url. */
  readonly topic: string;
  /** Contact of the sender, for the push service: `https:` or `mailto:` (RFC 8292, 2.1). */
  readonly contact: string;
}

const TOPIC_CHARACTERS = 32;

/** @param serverUrl address of the server in the browser */
export function webPushRequest(
  event: NotificationEvent,
  { title, body, generic }: Content,
  serverUrl: string,
  { ttlSeconds: ttl, ...more }: { ttlSeconds: number; foregroundBehavior: ForegroundBehavior },
): WebPushRequest {
  const tag = collapseIdOf(event);
  const frame = { tag, target: routingOf(event, serverUrl), createdAt: event.createdAt };
  const textOf = (words: Pick<WebPushMessage, 'title' | 'body'>): string =>
    JSON.stringify({ ...words, ...frame, ...more } satisfies WebPushMessage);
  const room = WEB_PUSH_BUDGET_BYTES - utf8Length(textOf({ title, body: '' }));
  const shortened = shortenToFit(
    body,
    room,
    (shorter) => utf8Length(textOf({ title, body: shorter })) <= WEB_PUSH_BUDGET_BYTES,
  );
  return {
    text: textOf({ title, body: shortened }),
    generic: textOf(generic),
    ttl,
    urgency: event.topic === 'ready' ? 'normal' : 'high',
    topic: tag.slice(0, TOPIC_CHARACTERS),
    contact: contactOf(serverUrl),
  };
}

/** The account's server is responsible for its senders; without https it is no valid contact. */
function contactOf(serverUrl: string): string {
  const { protocol, hostname, origin } = new URL(serverUrl);
  return protocol === 'https:' ? origin : `mailto:postmaster@${hostname}`;
}
