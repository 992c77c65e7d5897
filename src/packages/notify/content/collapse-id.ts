import { sha256 } from '@noble/hashes/sha2.js';
import { base64UrlOf, utf8Bytes } from '../../client/crypto/bytes.js';
import type { NotificationEvent } from './notification-event.js';

/** Notifications with the same id replace each other on the device. Apple allows 64 bytes. */
export function collapseIdOf({ serverUrl, topic, session, request }: NotificationEvent): string {
  const subject = [serverUrl, topic, session.sessionId, request?.requestId ?? ''];
  return base64UrlOf(sha256(utf8Bytes(JSON.stringify(subject))));
}
