import { readBase64 } from '../../../core/protocol/base64.js';
import { base64UrlOf, utf8Bytes, utf8Text } from '../crypto/bytes.js';
import { isRecord } from '../../../core/protocol/is-record.js';
import {
  presentNotification,
  readForegroundBehavior,
  type ForegroundBehavior,
  type Screen,
} from './notification-display.js';
import { GENERIC_BODY } from './notification-text.js';
import { readNotificationTarget, type NotificationTarget } from './notification-routing.js';

/** A browser's push subscription, as `PushSubscription.toJSON()` returns it. */
export interface WebPushSubscription {
  /** URL of the browser's push service, always https (RFC 8030). */
  readonly endpoint: string;
  /** Unpadded base64url: an uncompressed P-256 point and 16 random bytes (RFC 8291). */
  readonly keys: { readonly p256dh: string; readonly auth: string };
}

const PREFIX = 'webpush:';
const MAX_TOKEN_CHARACTERS = 1024;
const POINT_BYTES = 65;
const AUTH_BYTES = 16;
const VAPID_SECRET_BYTES = 32;
/** RFC 5480: the next two numbers of the point are its coordinates. */
const UNCOMPRESSED = 4;

/**
 * A subscription as a push token (contract, Push tokens): the same one is always the same token.
 *
 * @param subscription `PushSubscription.toJSON()`
 * @returns null where it is no subscription, or longer than a push token may be
 */
export function formatWebPushToken(subscription: unknown): string | null {
  const read = readSubscription(subscription);
  const token = read && `${PREFIX}${base64UrlOf(utf8Bytes(JSON.stringify(read)))}`;
  return token === null || token.length > MAX_TOKEN_CHARACTERS ? null : token;
}

/** The subscription in a push token; null where the token is of another kind, or damaged. */
export function readWebPushToken(token: string): WebPushSubscription | null {
  if (!token.startsWith(PREFIX) || token.length > MAX_TOKEN_CHARACTERS) {
    return null;
  }
  const bytes = readBase64(token.slice(PREFIX.length), 1, MAX_TOKEN_CHARACTERS);
  try {
    return bytes && readSubscription(JSON.parse(utf8Text(bytes)));
  } catch {
    return null;
  }
}

function readSubscription(value: unknown): WebPushSubscription | null {
  const { endpoint, keys } = isRecord(value) ? value : {};
  const p256dh = pointIn(isRecord(keys) ? keys['p256dh'] : null);
  const auth = base64In(isRecord(keys) ? keys['auth'] : null, AUTH_BYTES);
  return isEndpoint(endpoint) && p256dh !== null && auth !== null
    ? { endpoint, keys: { p256dh, auth } }
    : null;
}

function isEndpoint(value: unknown): value is string {
  if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value)) {
    return false;
  }
  try {
    const { protocol, username, password } = new URL(value);
    return protocol === 'https:' && username === '' && password === '';
  } catch {
    return false;
  }
}

function base64In(value: unknown, byteLength: number): string | null {
  const bytes = typeof value === 'string' ? readBase64(value, byteLength, byteLength) : null;
  return bytes && base64UrlOf(bytes);
}

function pointIn(value: unknown): string | null {
  const point = base64In(value, POINT_BYTES);
  return point !== null && readBase64(point, POINT_BYTES, POINT_BYTES)?.[0] === UNCOMPRESSED
    ? point
    : null;
}

/** Field of an account's settings with its Web Push key (contract, The sender). */
export const WEB_PUSH_SETTING = 'notificationsWebPushV1';

/** The key pair with which an account's senders identify themselves (VAPID, RFC 8292). */
export interface WebPushKey {
  /** Unpadded base64url of the uncompressed P-256 point: browsers subscribe with it. */
  readonly publicKey: string;
  /** Unpadded base64url of 32 bytes. */
  readonly privateKey: string;
}

/** Reads the value of {@link WEB_PUSH_SETTING}; null where it is no key of version 1. */
export function readWebPushKey(value: unknown): WebPushKey | null {
  const { v, publicKey, privateKey } = isRecord(value) ? value : {};
  const point = pointIn(publicKey);
  const secret = base64In(privateKey, VAPID_SECRET_BYTES);
  return v === 1 && point !== null && secret !== null
    ? { publicKey: point, privateKey: secret }
    : null;
}

/** The JSON message that a sender encrypts for a browser. */
export interface WebPushMessage {
  readonly title: string;
  readonly body: string;
  readonly target: NotificationTarget;
  /** A notification replaces an older one of the same tag. */
  readonly tag: string;
  /** The time of the event in Unix milliseconds. */
  readonly createdAt: number;
  /** Sent because a service worker cannot read the account's settings. */
  readonly foregroundBehavior: ForegroundBehavior;
}

/** Reads a decrypted message; null where it is none. */
export function readWebPushMessage(value: unknown): WebPushMessage | null {
  if (!isRecord(value)) {
    return null;
  }
  const { title, body, tag, createdAt, foregroundBehavior } = value;
  const target = readNotificationTarget(value['target']);
  const isText = [title, body, tag].every((part) => typeof part === 'string');
  return target === null || !isText
    ? null
    : {
        title: String(title),
        body: String(body),
        tag: String(tag),
        target,
        createdAt: typeof createdAt === 'number' ? createdAt : 0,
        foregroundBehavior: readForegroundBehavior(foregroundBehavior),
      };
}

/** The arguments of `ServiceWorkerRegistration.showNotification`. */
export interface ShownNotification {
  readonly title: string;
  readonly options: {
    readonly body: string;
    readonly tag: string;
    readonly timestamp: number;
    readonly silent: boolean;
    /** For `notificationclick`: read it with `readNotificationTarget`. */
    readonly data: NotificationTarget;
  };
}

/**
 * Renders a message for the service worker; null where nothing is to be shown, because the app is
 * open and in-app notifications are off, or shows that session (specification, Events 9).
 *
 * @param isOnForDevice the switch of this device for the text of requests (specification,
 *   Notification preferences)
 */
export function webNotification(
  message: WebPushMessage,
  screen: Omit<Screen, 'behavior'>,
  isOnForDevice = true,
): ShownNotification | null {
  const { title, tag, createdAt: timestamp, target, foregroundBehavior } = message;
  const { topic, isResolved = false } = target;
  const isHidden = topic !== 'ready' && !isResolved && !isOnForDevice;
  const body = isHidden ? GENERIC_BODY[topic] : message.body;
  const { showsBanner, playsSound } = presentNotification(target, {
    ...screen,
    behavior: foregroundBehavior,
  });
  const options = { body, tag, timestamp, silent: !playsSound, data: target };
  // Browsers do not withdraw notifications, so the answered one is always replaced.
  return showsBanner || isResolved ? { title, options } : null;
}

/**
 * The address that a click opens.
 *
 * @param template of the app: `{serverUrl}`, `{sessionId}` and `{requestId}` in it are replaced,
 *   percent-encoded. The request of a ready event is empty.
 */
export function requestAddress(
  template: string,
  { serverUrl, sessionId, requestId }: NotificationTarget,
): string {
  const values: Readonly<Record<string, string>> = {
    serverUrl,
    sessionId,
    requestId: requestId ?? '',
  };
  return template.replace(/\{(\w+)\}/g, (placeholder, name: string) =>
    encodeURIComponent(values[name] ?? placeholder),
  );
}
