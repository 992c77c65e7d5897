import { collapseIdOf } from '../content/collapse-id.js';
import type { Content } from '../content/content.js';
import type { NotificationEvent, NotificationTopic } from '../content/notification-event.js';
import { shortenToFit, utf8Length } from '../content/text.js';

/** Values that a preset writes into the body: the specification's fields before encoding. */
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
  /** Returns the target address for the channel's url. */
  readonly url: (url: string) => string;
  /** Returns the address that replaces a message, given its id; absent where the service cannot. */
  readonly messageUrl?: (url: string, messageId: string) => string;
  readonly body: (facts: WebhookFacts, url: string, event: NotificationEvent) => object;
  /** Bytes of the whole body. */
  readonly budgetBytes: number;
  /** Bytes of the text in the body, above which the service truncates or refuses. */
  readonly textBytes: number;
  /** Returns the text in the form of the body, which is longer where markup is escaped. */
  readonly escape: (text: string) => string;
}

const BUDGET_BYTES = 16 * 1024;
/** Share of the budget for tool details, as JSON; the sentence and the ids need the rest. */
const TOOL_DETAILS_BYTES = 6 * 1024;
const asItIs = (url: string): string => url;

/** The bodies of the specification and of three chat services. */
export const PRESETS: Readonly<Record<WebhookPreset, PresetRow>> = {
  generic: {
    url: asItIs,
    body: (facts) => facts,
    budgetBytes: BUDGET_BYTES,
    textBytes: BUDGET_BYTES,
    escape: asItIs,
  },
  slack: {
    url: asItIs,
    body: ({ content }) => slackMessage(content),
    budgetBytes: BUDGET_BYTES,
    textBytes: 3000,
    escape: escapeSlack,
  },
  discord: {
    // Otherwise Discord answers without the message, before it has stored it.
    url: (url) => withSearch(url, (search) => search.set('wait', 'true')),
    messageUrl: discordMessageUrl,
    body: ({ content }) => discordMessage(content),
    budgetBytes: BUDGET_BYTES,
    textBytes: 4096,
    escape: escapeDiscord,
  },
  ntfy: {
    // JSON is published to the server itself, with the topic in the body.
    url: (url) => new URL(`.${new URL(url).search}`, withoutEndingSlash(url)).href,
    body: ({ content, topic }, url, event) => ({
      // A later message of the same sequence replaces the earlier one.
      sequence_id: collapseIdOf(event),
      topic: withoutEndingSlash(url).split('/').at(-1),
      title: content.title,
      message: content.body,
      priority: topic === 'ready' ? 3 : 4,
    }),
    budgetBytes: 6 * 1024,
    textBytes: 4000,
    escape: asItIs,
  },
};

const DISCORD_TITLE_BYTES = 256;
const SLACK_TITLE_BYTES = 150;

/** Formatting of a chat service would hide a part of a command, so both bodies show none. */
export function discordMessage({ title, body }: WebhookFacts['content']): object {
  const embed = {
    title: shortTitle(title, DISCORD_TITLE_BYTES, escapeDiscord),
    description: escapeDiscord(body),
  };
  // A command that contains "@everyone" must not mention everyone.
  return { embeds: [embed], allowed_mentions: { parse: [] } };
}

function slackMessage({ title, body }: WebhookFacts['content']): object {
  const plain = (text: string) => ({ type: 'plain_text', text, emoji: false });
  const text = escapeSlack(body);
  return {
    // Notifications show it in place of the blocks.
    text: `${escapeSlack(title)}\n${text}`,
    mrkdwn: false,
    blocks: [
      { type: 'header', text: plain(shortTitle(title, SLACK_TITLE_BYTES, escapeSlack)) },
      { type: 'section', text: plain(text) },
    ],
    unfurl_links: false,
  };
}

function shortTitle(title: string, maxBytes: number, escape: PresetRow['escape']): string {
  const fits = (text: string) => utf8Length(escape(text)) <= maxBytes;
  return escape(shortenToFit(title, maxBytes, fits));
}

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

/** Discord shows any punctuation after a backslash as it is. Its clients show `:name:` as an emoji. */
function escapeDiscord(text: string): string {
  return text
    .replace(/[\\*_~`|<[\]]|:(?=\/\/|[^\s:]+:)/g, '\\$&')
    .replace(/^([^\S\n]*)([#>+-])/gm, '$1\\$2')
    .replace(/^([^\S\n]*\d+)([.)])/gm, '$1\\$2');
}

function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export interface WebhookRequest {
  readonly url: string;
  /** The exact JSON that is sent. */
  readonly body: string;
}

/**
 * Shortens the text so that the body fits the preset's budget (specification, Webhook delivery
 * payload).
 */
export function webhookRequest(
  event: NotificationEvent,
  content: Content,
  channel: { readonly id: string; readonly preset: WebhookPreset; readonly url: string },
): WebhookRequest {
  const preset = PRESETS[channel.preset];
  const encode = (text: string, toolDetails: string | null) => {
    const shortened = { ...content, body: text, toolDetails };
    return JSON.stringify(preset.body(factsOf(event, shortened, channel.id), channel.url, event));
  };
  const fits = (text: string, body: string) =>
    utf8Length(preset.escape(text)) <= preset.textBytes && utf8Length(body) <= preset.budgetBytes;
  const url = preset.url(channel.url);
  if (content.body.length <= preset.textBytes) {
    const body =
      preset === PRESETS.generic
        ? wholeGenericBody(event, content, channel.id)
        : encode(content.body, content.toolDetails);
    // Most bodies fit, so that one encoding is enough.
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

/** All channels of an event share the JSON after the channel's id. */
const AFTER_CHANNEL_ID = new WeakMap<Content, string>();

/** One encoding serves all channels. */
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
