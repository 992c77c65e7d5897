import { parseServerUrl } from './api-client-transport.js';
import { isRecord } from './problem.js';

export type NotificationTopic = 'ready' | 'permission_request' | 'user_action_request';

/** Where a notification leads: what a sender puts beside the text so that a tap finds its way. */
export interface NotificationTarget {
  readonly topic: NotificationTopic;
  /** As {@link parseServerUrl} returns it. */
  readonly serverUrl: string;
  readonly sessionId: string;
  /** null for ready events. */
  readonly requestId: string | null;
  readonly eventId: string | null;
}

const TOPICS: readonly NotificationTopic[] = ['ready', 'permission_request', 'user_action_request'];

/**
 * Reads the `data` of a push. Null when it does not name a topic, a session and a web address:
 * anybody who knows a push token can send to it, so nothing of it is taken on trust.
 */
export function readNotificationTarget(data: unknown): NotificationTarget | null {
  if (!isRecord(data)) {
    return null;
  }
  const topic = TOPICS.find((known) => known === data['topic']);
  const sessionId = idIn(data['sessionId']);
  const serverUrl = parseServerUrl(idIn(data['serverUrl']) ?? '');
  if (topic === undefined || sessionId === null || serverUrl === null) {
    return null;
  }
  const requestId = topic === 'ready' ? null : idIn(data['requestId']);
  return { topic, serverUrl, sessionId, requestId, eventId: idIn(data['eventId']) };
}

function idIn(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
