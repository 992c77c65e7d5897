import type { Content } from './content.js';
import type { NotificationEvent } from './notification-event.js';
import type { WebhookChannel } from './preferences.js';
import { shortenToFit, utf8Length } from './shorten.js';
import { PRESETS, type WebhookFacts } from './webhook-presets.js';

export interface WebhookRequest {
  readonly url: string;
  /** The JSON that is sent, byte for byte. */
  readonly body: string;
}

/**
 * The POST for a channel (specification, Webhook delivery payload), its text shortened so that the
 * whole body keeps within the preset's budget: 16 KiB, less where the service takes less.
 */
export function webhookRequest(
  event: NotificationEvent,
  content: Content,
  channel: WebhookChannel,
): WebhookRequest {
  const preset = PRESETS[channel.preset];
  const encode = (text: string) =>
    JSON.stringify(preset.body(factsOf(event, { ...content, body: text }, channel), channel.url));
  const fits = (text: string, body: string) =>
    utf8Length(text) <= preset.textBytes && utf8Length(body) <= preset.budgetBytes;
  const url = preset.url(channel.url);
  if (content.body.length <= preset.textBytes) {
    const body = encode(content.body);
    // As good as always: one encoding is enough then.
    if (fits(content.body, body)) {
      return { url, body };
    }
  }
  const shorter = shortenToFit(content.body, preset.textBytes, (text) => fits(text, encode(text)));
  return { url, body: encode(shorter) };
}

function factsOf(
  { createdAt, topic, session, request, ...event }: NotificationEvent,
  { title, body, toolDetails, sessionTitle, toolName }: Content,
  channel: WebhookChannel,
): WebhookFacts {
  return {
    channelId: channel.id,
    createdAt,
    topic,
    content: { title, body },
    session: {
      sessionId: session.sessionId,
      title: sessionTitle,
    },
    request: request && {
      requestId: request.requestId,
      kind: topic === 'permission_request' ? 'permission' : 'user_action',
      toolName,
      toolDetails: toolDetails === null ? null : body,
    },
    metadata: { ...event.metadata, eventId: event.id, serverUrl: event.serverUrl },
  };
}
