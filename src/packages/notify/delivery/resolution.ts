import { hash } from 'node:crypto';
import { ANDROID_CHANNELS } from '../../client/notifications/notification-display.js';
import { recordOf } from '../../../core/protocol/is-record.js';
import { ENGLISH, type Templates } from '../content/content.js';
import { discordMessage, discordMessageUrl } from '../webhook/webhook-request.js';
import type { StoredDelivery } from './delivery.js';

type ResolvedText = Templates['resolved'];

/** The time within which a phone that is off can still receive it. */
const TTL_SECONDS = 3600;
/** The lowest priority of ntfy: no sound, no vibration. */
const NTFY_LEAST_PRIORITY = 1;

/** null = a target that cannot replace messages. @param messageIds by the id of their delivery */
export function resolutionOf<Sent extends StoredDelivery>(
  delivery: Sent,
  now: number,
  text: ResolvedText = ENGLISH.resolved,
  messageId?: string,
): Sent | null {
  const shown = replaced(delivery, text, messageId);
  return shown === null || delivery.resolves === true
    ? null
    : {
        ...delivery,
        ...shown,
        id: `msg_${hash('sha256', JSON.stringify([delivery.id, 'resolved']), 'base64url').slice(0, 32)}`,
        createdAt: now,
        expiresAt: now + TTL_SECONDS * 1000,
        isPreview: false,
        resolves: true,
      };
}

function replaced(
  delivery: StoredDelivery,
  { title, body }: ResolvedText,
  messageId: string | undefined,
): object | null {
  if (delivery.kind === 'webhook' && delivery.isReplaceable === true) {
    return messageId === undefined
      ? null
      : replacedMessage(delivery.url, messageId, { title, body });
  }
  if (delivery.kind === 'webhook') {
    const { topic, sequence_id } = recordOf(JSON.parse(delivery.body));
    const fields = { topic, sequence_id, title, message: body, priority: NTFY_LEAST_PRIORITY };
    return sequence_id === undefined ? null : { body: JSON.stringify(fields) };
  }
  if (delivery.kind === 'web-push') {
    const { message } = delivery;
    const shown = resolvedText(message.text, { title, body });
    const urgency = 'normal' as const;
    return { message: { ...message, text: shown, generic: shown, ttl: TTL_SECONDS, urgency } };
  }
  const { message } = delivery;
  return {
    generic: undefined,
    message: {
      ...message,
      title,
      body,
      subtitle: undefined,
      categoryId: undefined,
      data: { ...message.data, resolved: 'true' },
      sound: null,
      interruptionLevel: 'passive',
      priority: 'default',
      channelId: ANDROID_CHANNELS.resolved.id,
      ttl: TTL_SECONDS,
    },
  };
}

function replacedMessage(url: string, messageId: string, text: ResolvedText): object {
  const body = JSON.stringify(discordMessage(text));
  const place = { url: discordMessageUrl(url, messageId), replaces: messageId };
  return { ...place, body, isReplaceable: undefined };
}

function resolvedText(text: string, words: ResolvedText): string {
  const sent = recordOf(JSON.parse(text));
  const target = { ...recordOf(sent['target']), resolved: 'true' };
  return JSON.stringify({ ...sent, ...words, target });
}
