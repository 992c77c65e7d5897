import { hash } from 'node:crypto';
import { parseServerUrl } from '../../client/api/server-url.js';
import { requestPreviewsOfBuild } from '../environment.js';
import {
  contentFor,
  ENGLISH,
  type Content,
  type ContentSwitches,
  type Templates,
  unmasked,
} from '../content/content.js';
import { maskShownSecrets } from '../content/mask-secrets.js';
import {
  lastingFailure,
  type Delivery,
  type FailedAttempt,
  type Outcome,
  type StoredDelivery,
  type SuppressionReason,
  type Target,
  withoutText,
} from './delivery.js';
import type { NotificationEvent, NotificationTopic } from '../content/notification-event.js';
import type { Preferences, TopicSwitches, WebhookChannel } from '../preferences.js';
import { readWebPushToken } from '../../client/notifications/web-push.js';
import { isConfirmedReceiver } from '../../client/settings/receivers.js';
import { isPushToken, pushMessage, type PushAddress } from '../push/push-message.js';
import { webPushRequest } from '../push/web-push-message.js';
import { PRESETS, webhookRequest } from '../webhook/webhook-request.js';

/** A push token as the server lists it. */
export interface SavedToken {
  readonly token: string;
  readonly clientServerUrl: string | null;
}

export interface PlanOptions {
  readonly now: number;
  /** Distinguishes the deliveries of several accounts of a server, whose events may have the same id. */
  readonly accountId?: string;
  readonly templates?: Templates;
  /**
   * False sends generic bodies to all targets. Default: false in the published packages, unless
   * `CLIENT_PUBLIC_REQUEST_PREVIEWS` is `1`; true in modules compiled from a checkout, unless it is `0`.
   */
  readonly requestPreviews?: boolean;
  /** True if passwords, tokens and keys are masked in every text. Default true. */
  readonly maskSecrets?: boolean;
  /** Lifetime of an event, by topic. Default: an hour, for a permission half an hour. */
  readonly ttlSeconds?: Partial<Readonly<Record<NotificationTopic, number>>>;
}

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

/** Each token and channel is in one of the two lists (specification, Events 1 to 6). */
export function planNotification(
  event: NotificationEvent,
  preferences: Preferences,
  tokens: readonly SavedToken[],
  options: PlanOptions,
): Plan {
  const ttlSeconds = { ...TTL_SECONDS, ...options.ttlSeconds }[event.topic];
  const expiresAt = event.createdAt + ttlSeconds * 1000;
  const contents = new Map<string, Content>();
  const {
    requestPreviews = requestPreviewsOfBuild().isBuiltIn,
    maskSecrets: isMasked = true,
    templates = ENGLISH,
    now,
  } = options;
  const texts = { requestPreviews, maskSecrets: isMasked, templates, contents };
  const { accountId = null } = options;
  const context = { event, ...texts, now, accountId, ttlSeconds, expiresAt };
  const entries = [
    ...pushEntries(context, preferences, tokens),
    ...webhookEntries(context, preferences),
  ];
  return {
    deliveries: entries.filter((entry) => isDelivery(entry)),
    outcomes: entries.filter((entry): entry is Outcome => !isDelivery(entry)),
  };
}

interface Context extends Required<Omit<PlanOptions, 'ttlSeconds' | 'accountId'>> {
  readonly accountId: string | null;
  readonly event: NotificationEvent;
  readonly ttlSeconds: number;
  readonly expiresAt: number;
  readonly contents: Map<string, Content>;
}

type Entry = Delivery | Outcome;

const isDelivery = (entry: Entry): entry is Delivery => 'kind' in entry;

function pushEntries(
  context: Context,
  preferences: Preferences,
  tokens: readonly SavedToken[],
): Entry[] {
  const { push, receivers } = preferences;
  if (tokens.length === 0) {
    return [{ target: { kind: 'push', id: null }, deliveryId: null, state: 'no-target' }];
  }
  const reason = push.enabled ? reasonAgainst(context, push.topics) : 'push-disabled';
  const confirmed = contentOf(context, push);
  const unconfirmed = genericContent(confirmed);
  return tokens.map(({ token, clientServerUrl }): Entry => {
    const content = isConfirmedReceiver(receivers, token) ? confirmed : unconfirmed;
    const target = { kind: 'push', id: token } as const;
    if (reason !== null) {
      return suppressed(target, reason);
    }
    const serverUrl = serverUrlFor(clientServerUrl, context.event);
    if (readWebPushToken(token) !== null) {
      return webPushEntry(context, preferences, content, { token, serverUrl });
    }
    if (!isPushToken(token)) {
      const detail = 'This is not a push token. The app must register again.';
      return unsendable(target, 'malformed-token', detail);
    }
    const address = { token, serverUrl };
    const message = pushMessage(context.event, content, address, context.ttlSeconds);
    const { generic } = content;
    return { kind: 'push', token, message, generic, ...baseOf(context, target, content) };
  });
}

/** The content for a receiver that no device with the key confirmed (contract, Push tokens). */
function genericContent(content: Content): Content {
  return { ...content, ...content.generic, subtitle: null, isPreview: false };
}

function webPushEntry(
  context: Context,
  { webPushKey: key, foregroundBehavior }: Preferences,
  content: Content,
  { token, serverUrl }: PushAddress,
): Entry {
  const target = { kind: 'push', id: token } as const;
  if (key === null) {
    return unsendable(target, NO_WEB_PUSH_KEY.code, NO_WEB_PUSH_KEY.detail);
  }
  const { event, ttlSeconds } = context;
  const more = { ttlSeconds, foregroundBehavior };
  const message = webPushRequest(event, content, serverUrl, more);
  return { kind: 'web-push', token, message, key, ...baseOf(context, target, content) };
}

function webhookEntries(
  context: Context,
  { channels, brokenChannels }: Pick<Preferences, 'channels' | 'brokenChannels'>,
): Entry[] {
  if (channels.length === 0 && brokenChannels.length === 0) {
    return [{ target: { kind: 'webhook', id: null }, deliveryId: null, state: 'no-target' }];
  }
  const broken = brokenChannels.map(({ id, enabled, detail }): Entry => {
    const target = { kind: 'webhook', id } as const;
    return enabled
      ? unsendable(target, 'broken-channel', detail)
      : suppressed(target, 'channel-disabled');
  });
  const served = channels.map((channel): Entry => {
    const target = { kind: 'webhook', id: channel.id } as const;
    const reason = channel.enabled ? reasonAgainst(context, channel.topics) : 'channel-disabled';
    if (reason !== null) {
      return suppressed(target, reason);
    }
    const content = contentOf(context, channel);
    const { url, body } = webhookRequest(context.event, content, channel);
    const { id: channelId, secrets, preset } = channel;
    const kind = PRESETS[preset].messageUrl === undefined ? {} : ({ isReplaceable: true } as const);
    // The spread comes last, because adding fields to a spread object is slow.
    const sent = { channelId, secrets, url, body, ...kind };
    return { kind: 'webhook', ...sent, ...baseOf(context, target, content) };
  });
  return [...served, ...broken];
}

function reasonAgainst(
  { event, now, expiresAt }: Context,
  topics: Readonly<Record<NotificationTopic, boolean>>,
): SuppressionReason | null {
  if (!topics[event.topic]) {
    return 'topic-off';
  }
  return now >= expiresAt ? 'expired' : null;
}

/** One content per combination of the switches serves all channels. */
function contentOf(
  { event, templates, contents, requestPreviews: isBuiltIn, maskSecrets: isMasked }: Context,
  { readyIncludeMessageText, requestPreviews }: ContentSwitches,
): Content {
  const switches = { readyIncludeMessageText, requestPreviews: isBuiltIn && requestPreviews };
  const key = `${switches.readyIncludeMessageText} ${switches.requestPreviews}`;
  const content =
    contents.get(key) ??
    contentFor(event, switches, templates, isMasked ? maskShownSecrets : unmasked);
  contents.set(key, content);
  return content;
}

function baseOf({ event, accountId, expiresAt }: Context, target: Target, { isPreview }: Content) {
  const { id: eventId, topic, createdAt, session, request } = event;
  const subject = { sessionId: session.sessionId, requestId: request?.requestId ?? null };
  const id = deliveryId(event, target, accountId);
  return { id, eventId, topic, createdAt, expiresAt, isPreview, ...subject };
}

/** The same for each attempt, and without a dot, as Standard Webhooks requires. */
function deliveryId(
  { id, serverUrl }: NotificationEvent,
  target: Target,
  accountId: string | null,
): string {
  const account = accountId === null ? [] : [accountId];
  const subject = JSON.stringify([id, target.kind, target.id, serverUrl, ...account]);
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

const unsendable = (target: Target, code: string, detail: string): Outcome => ({
  target,
  deliveryId: null,
  state: 'failed',
  attempts: 0,
  code,
  detail,
});

/**
 * Unreadable settings send nothing: the defaults could show what the account has disabled.
 * @param detail for a person; contains no secret
 */
export function outcomesWithoutSettings(
  tokens: readonly Pick<SavedToken, 'token'>[],
  detail: string,
  code = 'settings-unreadable',
): Outcome[] {
  const targets: readonly Target[] = [
    ...tokens.map(({ token }): Target => ({ kind: 'push', id: token })),
    { kind: 'webhook', id: null },
  ];
  return targets.map((target) => unsendable(target, code, detail));
}

/** Updates a delivery with the current address and secrets, or fails if its target is gone. */
export function renewDelivery(
  delivery: StoredDelivery,
  { push, receivers, webPushKey, channels }: Preferences,
  tokens: readonly SavedToken[],
): Delivery | FailedAttempt {
  if (delivery.kind !== 'webhook') {
    const isThere = tokens.some(({ token }) => token === delivery.token);
    if (!isThere || !push.enabled || !isWanted(delivery, push)) {
      return isThere ? SWITCHED_OFF : DEVICE_GONE;
    }
    const shown = isConfirmedReceiver(receivers, delivery.token) ? delivery : withoutText(delivery);
    if (shown.kind === 'push') {
      return shown;
    }
    return webPushKey === null ? NO_WEB_PUSH_KEY : { ...shown, key: webPushKey };
  }
  const channel = channels.find(({ id }) => id === delivery.channelId);
  if (channel?.enabled !== true) {
    return CHANNEL_GONE;
  }
  if (!isWanted(delivery, channel)) {
    return SWITCHED_OFF;
  }
  const address = addressOf(channel, delivery.replaces);
  return address === null ? CHANNEL_GONE : { ...delivery, ...address };
}

function isWanted(
  { topic, isPreview }: StoredDelivery,
  switches: ContentSwitches & { readonly topics: TopicSwitches },
): boolean {
  const { topics, readyIncludeMessageText, requestPreviews } = switches;
  const isTextAllowed = topic === 'ready' ? readyIncludeMessageText : requestPreviews;
  return topics[topic] && (isTextAllowed || !isPreview);
}

/** Returns null if the channel's current preset cannot replace messages. */
function addressOf({ preset, url, secrets }: WebhookChannel, replaces: string | undefined) {
  const kind = PRESETS[preset];
  if (replaces === undefined) {
    return { url: kind.url(url), secrets };
  }
  return kind.messageUrl === undefined ? null : { url: kind.messageUrl(url, replaces), secrets };
}

const CHANNEL_GONE = lastingFailure(
  'channel-gone',
  'The channel was removed or disabled in the meantime.',
);
const DEVICE_GONE = lastingFailure('device-gone', 'The push token was removed in the meantime.');
const NO_WEB_PUSH_KEY = lastingFailure(
  'no-web-push-key',
  'The settings hold no Web Push key. Register this browser again on the account page.',
);
const SWITCHED_OFF = lastingFailure(
  'switched-off',
  'It, or what it shows, was switched off in the meantime.',
);
