import { hash } from 'node:crypto';
import { parseServerUrl } from '../client/api-client-transport.js';
import { contentFor, type Content, type ContentSwitches } from './content.js';
import type { Delivery, Outcome, SuppressionReason, Target } from './delivery.js';
import type { NotificationEvent, NotificationTopic } from './notification-event.js';
import type { Preferences, WebhookChannel } from './preferences.js';
import { pushMessage } from './push-message.js';
import { isPushToken } from './push-token.js';
import { ENGLISH, type Templates } from './templates.js';
import { webhookRequest } from './webhook-body.js';

/** A push token as the server lists it. */
export interface SavedToken {
  readonly token: string;
  readonly clientServerUrl: string | null;
}

export interface PlanOptions {
  readonly now: number;
  readonly templates?: Templates;
  /** The switch of the build (`CLIENT_PUBLIC_REQUEST_PREVIEWS`); false = generic bodies for all. */
  readonly requestPreviews?: boolean;
  /** How long an event matters, by topic. Default: an hour, for a permission half an hour. */
  readonly ttlSeconds?: Partial<Readonly<Record<NotificationTopic, number>>>;
}

/** What to send, and what became of the targets to which nothing is sent. */
export interface Plan {
  readonly deliveries: readonly Delivery[];
  readonly outcomes: readonly Outcome[];
}

const TTL_SECONDS: Readonly<Record<NotificationTopic, number>> = {
  ready: 3600,
  permission_request: 1800,
  user_action_request: 3600,
};
const MAX_SERVER_URL_CHARACTERS = 512;

/**
 * Who is told of an event, and in which words (specification, Events 1 to 6). Every token and every
 * channel ends up in exactly one of the two lists.
 */
export function planNotification(
  event: NotificationEvent,
  preferences: Preferences,
  tokens: readonly SavedToken[],
  options: PlanOptions,
): Plan {
  const ttlSeconds = { ...TTL_SECONDS, ...options.ttlSeconds }[event.topic];
  const expiresAt = event.createdAt + ttlSeconds * 1000;
  const context = { event, options, ttlSeconds, expiresAt, contents: new Map<string, Content>() };
  const entries = [
    ...pushEntries(context, preferences.push, tokens),
    ...webhookEntries(context, preferences.channels),
  ];
  return {
    deliveries: entries.filter((entry) => isDelivery(entry)),
    outcomes: entries.filter((entry): entry is Outcome => !isDelivery(entry)),
  };
}

interface Context {
  readonly event: NotificationEvent;
  readonly options: PlanOptions;
  readonly ttlSeconds: number;
  readonly expiresAt: number;
  readonly contents: Map<string, Content>;
}

type Entry = Delivery | Outcome;

const isDelivery = (entry: Entry): entry is Delivery => 'kind' in entry;

function pushEntries(
  context: Context,
  push: Preferences['push'],
  tokens: readonly SavedToken[],
): Entry[] {
  if (tokens.length === 0) {
    return [{ target: { kind: 'push', id: null }, deliveryId: null, state: 'no-target' }];
  }
  const reason = push.enabled ? reasonAgainst(context, push.topics) : 'push-disabled';
  const content = contentOf(context, push);
  return tokens.map(({ token, clientServerUrl }): Entry => {
    const target = { kind: 'push', id: token } as const;
    if (reason !== null) {
      return suppressed(target, reason);
    }
    if (!isPushToken(token)) {
      return malformedToken(target);
    }
    const address = { token, serverUrl: serverUrlFor(clientServerUrl, context.event) };
    const message = pushMessage(context.event, content, address, context.ttlSeconds);
    return { kind: 'push', token, message, ...baseOf(context, target, content) };
  });
}

function webhookEntries(context: Context, channels: readonly WebhookChannel[]): Entry[] {
  if (channels.length === 0) {
    return [{ target: { kind: 'webhook', id: null }, deliveryId: null, state: 'no-target' }];
  }
  return channels.map((channel): Entry => {
    const target = { kind: 'webhook', id: channel.id } as const;
    const reason = channel.enabled ? reasonAgainst(context, channel.topics) : 'channel-disabled';
    if (reason !== null) {
      return suppressed(target, reason);
    }
    const content = contentOf(context, channel);
    const { url, body } = webhookRequest(context.event, content, channel);
    const { id: channelId, secrets } = channel;
    // The spread comes last: an object that is spread first and then added to is slow to make.
    return { kind: 'webhook', channelId, secrets, url, body, ...baseOf(context, target, content) };
  });
}

function reasonAgainst(
  { event, options, expiresAt }: Context,
  topics: Readonly<Record<NotificationTopic, boolean>>,
): SuppressionReason | null {
  if (!topics[event.topic]) {
    return 'topic-off';
  }
  return options.now >= expiresAt ? 'expired' : null;
}

/** The content for each way the switches can stand: made once, however many channels there are. */
function contentOf(
  { event, options, contents }: Context,
  { readyIncludeMessageText, requestPreviews }: ContentSwitches,
): Content {
  const { templates = ENGLISH, requestPreviews: isBuiltIn = true } = options;
  const switches = { readyIncludeMessageText, requestPreviews: isBuiltIn && requestPreviews };
  const key = `${switches.readyIncludeMessageText} ${switches.requestPreviews}`;
  const content = contents.get(key) ?? contentFor(event, switches, templates);
  contents.set(key, content);
  return content;
}

function baseOf({ event, expiresAt }: Context, target: Target, { isPreview }: Content) {
  const { id: eventId, topic, createdAt } = event;
  return { id: deliveryId(event, target), eventId, topic, createdAt, expiresAt, isPreview };
}

/**
 * Without a dot, as Standard Webhooks has it, and the same whenever the event is told again. Events
 * of two servers may have one id, and their accounts channels of one id.
 */
function deliveryId({ id, serverUrl }: NotificationEvent, target: Target): string {
  const subject = JSON.stringify([id, target.kind, target.id, serverUrl]);
  return `msg_${hash('sha256', subject, 'base64url').slice(0, 32)}`;
}

function serverUrlFor(clientServerUrl: string | null, event: NotificationEvent): string {
  const known = parseServerUrl(clientServerUrl ?? '');
  return known === null || known.length > MAX_SERVER_URL_CHARACTERS ? event.serverUrl : known;
}

const suppressed = (target: Target, reason: SuppressionReason): Outcome => ({
  target,
  deliveryId: null,
  state: 'suppressed',
  reason,
});

const malformedToken = (target: Target): Outcome => ({
  target,
  deliveryId: null,
  state: 'failed',
  attempts: 0,
  code: 'malformed-token',
  detail: 'This is no push token. The app must register again.',
});
