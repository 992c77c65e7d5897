import { sha256 } from '@noble/hashes/sha2.js';
import { base64UrlOf, utf8Bytes } from '../../client/crypto/bytes.js';
import type { NotificationEvent } from './notification-event.js';

/**
 * Notifications of one id replace each other on the device: the readiness of one session, or one
 * request. So a message that was accepted twice is still seen once. Apple takes at most 64 bytes.
 */
export function collapseIdOf({ serverUrl, topic, session, request }: NotificationEvent): string {
  const subject = [serverUrl, topic, session.sessionId, request?.requestId ?? ''];
  return base64UrlOf(sha256(utf8Bytes(JSON.stringify(subject))));
}
