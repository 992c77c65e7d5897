import { collapseIdOf } from '../content/collapse-id.js';
import type { Content } from '../content/content.js';
import type { NotificationEvent, NotificationTopic } from '../content/notification-event.js';
import type { WebhookChannel } from '../preferences.js';
import { shortenToFit, utf8Length } from '../content/text.js';

/** What a preset writes into the body: the specification's fields, ready to be encoded. */
export interface WebhookFacts {
  readonly channelId: string;
  readonly createdAt: number;
  readonly topic: NotificationTopic;
  readonly content: { readonly title: string; readonly body: string };
  readonly session: { readonly sessionId: string; readonly title: string };
  readonly request: {
    readonly requestId: string;
    readonly kind: 'permission' | 'user_action';
    readonly toolName: string;
    readonly toolDetails: string | null;
  } | null;
  readonly metadata: Readonly<Record<string, string | number | boolean>>;
}

export const WEBHOOK_PRESETS = ['generic', 'slack', 'discord', 'ntfy'] as const;
export type WebhookPreset = (typeof WEBHOOK_PRESETS)[number];

interface PresetRow {
  /** Where it goes, given the channel's url. */
  readonly url: (url: string) => string;
  /** Where a message of it is replaced, given its id; missing where none can be. */
  readonly messageUrl?: (url: string, messageId: string) => string;
  readonly body: (facts: WebhookFacts, url: string, event: NotificationEvent) => object;
  /** Bytes of the whole body. */
  readonly budgetBytes: number;
  /** Bytes of the text in it: what the service cuts off or refuses by itself. */
  readonly textBytes: number;
}

const BUDGET_BYTES = 16 * 1024;
/** Of the budget, as JSON: the rest is for the sentence, which says most of it too, and the ids. */
const TOOL_DETAILS_BYTES = 6 * 1024;
const asItIs = (url: string): string => url;

/** The body of each preset: the specification's, and what three services of others understand. */
export const PRESETS: Readonly<Record<WebhookPreset, PresetRow>> = {
  generic: {
    url: asItIs,
    body: (facts) => facts,
    budgetBytes: BUDGET_BYTES,
    textBytes: BUDGET_BYTES,
  },
  slack: {
    url: asItIs,
    body: ({ content }) => ({
      text: `*${escapeSlack(content.title)}*\n${escapeSlack(content.body)}`,
      unfurl_links: false,
    }),
    budgetBytes: BUDGET_BYTES,
    textBytes: BUDGET_BYTES,
  },
  discord: {
    // Otherwise Discord answers without the message, before it has stored it.
    url: (url) => withSearch(url, (search) => search.set('wait', 'true')),
    messageUrl: discordMessageUrl,
    body: ({ content }) => discordMessage(content),
    budgetBytes: BUDGET_BYTES,
    textBytes: 4096,
  },
  ntfy: {
    // Publishing as JSON goes to the server itself, with the topic in the body.
    url: (url) => new URL(`.${new URL(url).search}`, withoutEndingSlash(url)).href,
    body: ({ content, topic }, url, event) => ({
      // A later message of one sequence replaces the one before.
      sequence_id: collapseIdOf(event),
      topic: withoutEndingSlash(url).split('/').at(-1),
      title: content.title,
      message: content.body,
      priority: topic === 'ready' ? 3 : 4,
    }),
    budgetBytes: 6 * 1024,
    textBytes: 4000,
  },
};

/** The body of a message for Discord, new or in place of another. */
export function discordMessage({ title, body }: WebhookFacts['content']): object {
  // A command that holds "@everyone" must not call everyone.
  return { embeds: [{ title, description: body }], allowed_mentions: { parse: [] } };
}

/** Where a message is replaced that was sent to a webhook of Discord. */
export function discordMessageUrl(url: string, messageId: string): string {
  const place = new URL(withSearch(url, (search) => search.delete('wait')));
  place.pathname = `${place.pathname.replace(/\/+$/, '')}/messages/${messageId}`;
  return place.href;
}

function withSearch(url: string, change: (search: URLSearchParams) => void): string {
  const changed = new URL(url);
  change(changed.searchParams);
  return changed.href;
}

function withoutEndingSlash(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

/** Slack reads these three as markup, and only these must be escaped. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

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
  const encode = (text: string, toolDetails: string | null) => {
    const shortened = { ...content, body: text, toolDetails };
    return JSON.stringify(preset.body(factsOf(event, shortened, channel.id), channel.url, event));
  };
  const fits = (text: string, body: string) =>
    utf8Length(text) <= preset.textBytes && utf8Length(body) <= preset.budgetBytes;
  const url = preset.url(channel.url);
  if (content.body.length <= preset.textBytes) {
    const body =
      preset === PRESETS.generic
        ? wholeGenericBody(event, content, channel.id)
        : encode(content.body, content.toolDetails);
    // As good as always: one encoding is enough then.
    if (fits(content.body, body)) {
      return { url, body };
    }
  }
  const toolDetails = content.toolDetails && shortenDetails(content.toolDetails);
  const shorter = shortenToFit(content.body, preset.textBytes, (text) =>
    fits(text, encode(text, toolDetails)),
  );
  return { url, body: encode(shorter, toolDetails) };
}

/** What follows the channel's id in the JSON of the specification's body: the same in all channels of an event. */
const AFTER_CHANNEL_ID = new WeakMap<Content, string>();

/** The JSON of the specification's body, not shortened. One encoding serves all channels. */
function wholeGenericBody(event: NotificationEvent, content: Content, channelId: string): string {
  let rest = AFTER_CHANNEL_ID.get(content);
  if (rest === undefined) {
    rest = JSON.stringify(factsOf(event, content, '')).slice('{"channelId":""'.length);
    AFTER_CHANNEL_ID.set(content, rest);
  }
  return `{"channelId":${JSON.stringify(channelId)}${rest}`;
}

function shortenDetails(toolDetails: string): string {
  return shortenToFit(
    toolDetails,
    TOOL_DETAILS_BYTES,
    (text) => utf8Length(JSON.stringify(text)) <= TOOL_DETAILS_BYTES,
  );
}

function factsOf(
  { id: eventId, createdAt, topic, session, request, serverUrl }: NotificationEvent,
  { title, body, toolDetails, sessionTitle, toolName, metadata }: Content,
  channelId: string,
): WebhookFacts {
  return {
    channelId,
    createdAt,
    topic,
    content: { title, body },
    session: { sessionId: session.sessionId, title: sessionTitle },
    request: request && {
      requestId: request.requestId,
      kind: topic === 'permission_request' ? 'permission' : 'user_action',
      toolName,
      toolDetails,
    },
    metadata: { ...metadata, eventId, serverUrl },
  };
}
