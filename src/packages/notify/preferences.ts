import * as v from 'valibot';
import { isRecord, recordOf } from '../../core/protocol/is-record.js';
import {
  readForegroundBehavior,
  type ForegroundBehavior,
} from '../client/notifications/notification-display.js';
import {
  readWebPushKey,
  WEB_PUSH_SETTING,
  type WebPushKey,
} from '../client/notifications/web-push.js';
import {
  readReceivers,
  RECEIVERS_SETTING,
  type ConfirmedReceivers,
} from '../client/settings/receivers.js';
import type { ContentSwitches } from './content/content.js';
import type { NotificationTopic } from './content/notification-event.js';
import type { InputProblem } from './content/read-event.js';
import { MIN_SECRET_BYTES, signingKey } from './webhook/signing-secret.js';
import { WEBHOOK_PRESETS, type WebhookPreset } from './webhook/webhook-request.js';

export type TopicSwitches = Readonly<Record<NotificationTopic, boolean>>;

export interface WebhookChannel extends ContentSwitches {
  readonly id: string;
  readonly enabled: boolean;
  readonly url: string;
  readonly preset: WebhookPreset;
  /** The current secret, and the previous one until it expires. Empty = unsigned. */
  readonly secrets: readonly string[];
  readonly topics: TopicSwitches;
}

export interface BrokenChannel {
  /** null = the channel has no id. */
  readonly id: string | null;
  readonly enabled: boolean;
  /** For a person; contains no secret. */
  readonly detail: string;
}

export interface Preferences {
  readonly push: ContentSwitches & { readonly enabled: boolean; readonly topics: TopicSwitches };
  /** Handling of notifications while the app is open. */
  readonly foregroundBehavior: ForegroundBehavior;
  /** The push tokens that get text; null = all. */
  readonly receivers: ConfirmedReceivers | null;
  /** The key for browsers; null = no usable key. */
  readonly webPushKey: WebPushKey | null;
  readonly channels: readonly WebhookChannel[];
  /** Unusable channels: nothing is sent to them, which is reported as an outcome. */
  readonly brokenChannels: readonly BrokenChannel[];
  /**
   * Problems of the settings whose values were skipped or replaced by defaults. Contains no secret.
   */
  readonly problems: readonly InputProblem[];
}

const MAX_ID_CHARACTERS = 128;
/** Commands print it: a line end could forge the result of another channel. */
const CHANNEL_ID = new RegExp(`^\\P{Cc}{1,${MAX_ID_CHARACTERS}}$`, 'u');
const MAX_URL_CHARACTERS = 2048;
/** Fields of the settings with the preferences and the channels (contract, The sender). */
export const PREFERENCES_SETTING = 'notificationsSettingsV1';
export const CHANNELS_SETTING = 'notificationChannelsV1';

const flag = (otherwise: boolean) =>
  v.nullish(v.boolean(`must be true or false: taken as ${otherwise}`), otherwise);
const field = <Value>(check: (value: unknown) => boolean, rule: string) =>
  v.optional(v.custom<Value>(check, rule), null as Value);

const TOPICS = v.pipe(
  v.object({ ready: flag(true), permissionRequest: flag(true), userActionRequest: flag(true) }),
  v.transform(({ ready, permissionRequest, userActionRequest }): TopicSwitches => ({
    ready,
    permission_request: permissionRequest,
    user_action_request: userActionRequest,
  })),
);
const CONTENT = { readyIncludeMessageText: flag(false), requestPreviews: flag(true) };
const PUSH = v.pipe(
  v.object({ pushEnabled: flag(true), ...CONTENT }),
  v.transform(({ pushEnabled: enabled, ...content }) => ({ enabled, ...content })),
);
const CHANNEL_SWITCHES = v.object({ enabled: flag(true), ...CONTENT });
const KIND_RULE = 'is of a version or kind that this sender does not know';
const SECRET = v.nullish(v.string('has a signing secret that is no text'), '');
const SECRET_RULE = `has a signing secret whsec_ that is not base64 of at least ${MIN_SECRET_BYTES} bytes`;
const EXPIRY_RULE = 'has an expiry of its previous secret that is no time in milliseconds';
/** An unreadable secret must not turn a signed channel into an unsigned one. */
const CHANNEL = v.object({
  v: v.nullish(v.literal(1, KIND_RULE), 1),
  kind: v.nullish(v.literal('webhook', KIND_RULE), 'webhook'),
  id: field<string>(isChannelId, `needs an id of 1 to ${MAX_ID_CHARACTERS} characters in one line`),
  url: field<string>(
    isWebhookAddress,
    `needs a url of up to ${MAX_URL_CHARACTERS} characters that starts with https:// or http:// and contains no user name or password`,
  ),
  preset: v.optional(
    v.picklist(WEBHOOK_PRESETS, `needs one of these presets: ${WEBHOOK_PRESETS.join(', ')}`),
    'generic',
  ),
  signingSecret: v.pipe(
    SECRET,
    v.check((secret) => signingKey(secret) !== null, SECRET_RULE),
  ),
  previousSigningSecret: SECRET,
  previousSigningSecretExpiresAt: v.nullish(v.number(EXPIRY_RULE), Infinity),
});

/**
 * Reads `notificationsSettingsV1` and `notificationChannelsV1` out of an account's settings
 * (contract, The sender and the notification preferences). Never fails: a missing field has its
 * default, a broken one its default and a problem, and a broken channel is skipped with a problem.
 *
 * @param now Unix milliseconds: a previous signing secret is used until it expires
 */
export function readPreferences(settings: unknown, now: number = Date.now()): Preferences {
  const problems: InputProblem[] = [];
  const document = recordIn(settings, 'settings', problems);
  const name = PREFERENCES_SETTING;
  const fields = recordIn(document[name], name, problems);
  return {
    push: {
      ...readSwitches(PUSH, fields, name, problems),
      topics: readSwitches(TOPICS, fields, name, problems),
    },
    foregroundBehavior: readForegroundBehavior(fields['foregroundBehavior']),
    receivers: receiversIn(document, problems),
    webPushKey: webPushKeyIn(document[WEB_PUSH_SETTING], problems),
    ...channelsIn(document[CHANNELS_SETTING], now, problems),
    problems,
  };
}

/** A damaged list confirms no receiver: the default would show text to all. */
function receiversIn(
  document: Readonly<Record<string, unknown>>,
  problems: InputProblem[],
): ConfirmedReceivers | null {
  const receivers = readReceivers(document);
  if (receivers !== null && !Array.isArray(document[RECEIVERS_SETTING])) {
    problems.push({ path: RECEIVERS_SETTING, message: 'must be a list: no device gets text' });
  }
  return receivers;
}

function webPushKeyIn(value: unknown, problems: InputProblem[]): WebPushKey | null {
  const key = readWebPushKey(value);
  if (key === null && value !== undefined && value !== null) {
    const message = 'is no Web Push key that this sender knows: no browser is reached';
    problems.push({ path: WEB_PUSH_SETTING, message });
  }
  return key;
}

type Channels = Pick<Preferences, 'channels' | 'brokenChannels'>;

function channelsIn(value: unknown, now: number, problems: InputProblem[]): Channels {
  if (value !== undefined && value !== null && !Array.isArray(value)) {
    problems.push({ path: CHANNELS_SETTING, message: 'must be a list: no channel is served' });
    const detail = `${CHANNELS_SETTING} in the settings must be a list.`;
    return { channels: [], brokenChannels: [{ id: null, enabled: true, detail }] };
  }
  const seen = new Set<string>();
  const channels: WebhookChannel[] = [];
  const brokenChannels: BrokenChannel[] = [];
  for (const [index, entry] of (value ?? []).entries()) {
    const path = `${CHANNELS_SETTING}[${index}]`;
    const channel = channelIn(entry, path, now, problems);
    const problem = typeof channel === 'string' ? channel : repeated(channel.id, seen);
    if (typeof channel !== 'string' && problem === null) {
      channels.push(channel);
    } else {
      problems.push({ path, message: `${problem}: this channel is skipped` });
      brokenChannels.push(brokenChannel(entry, `The channel ${problem}.`));
    }
  }
  return { channels, brokenChannels };
}

function brokenChannel(entry: unknown, detail: string): BrokenChannel {
  const { id, enabled } = recordOf(entry);
  return { id: isChannelId(id) ? id : null, enabled: enabled !== false, detail };
}

function repeated(id: string, seen: Set<string>): string | null {
  const isRepeated = seen.has(id);
  seen.add(id);
  return isRepeated ? `has the id ${JSON.stringify(id)} of a channel before it` : null;
}

function channelIn(
  entry: unknown,
  path: string,
  now: number,
  problems: InputProblem[],
): WebhookChannel | string {
  if (!isRecord(entry)) {
    return 'is no channel';
  }
  const { success, output, issues } = v.safeParse(CHANNEL, entry, { abortEarly: true });
  if (!success) {
    return issues[0].message;
  }
  const { id, url, preset, signingSecret, previousSigningSecret: previous } = output;
  if (preset === 'ntfy' && /^\/*$/.test(new URL(url).pathname)) {
    return 'needs a url with the topic of ntfy, like https://ntfy.sh/my-topic';
  }
  if (signingSecret === '' && previous !== '') {
    const message = 'signs nothing without a signingSecret: deliveries are unsigned';
    problems.push({ path: `${path}.previousSigningSecret`, message });
  }
  const isUsed = output.previousSigningSecretExpiresAt > now && signingKey(previous) !== null;
  const place = `${path}.topics`;
  const topics = recordIn(entry['topics'], place, problems);
  return {
    id,
    url,
    preset,
    // The previous secret signs in addition to the current one, and never in its place.
    secrets: signingSecret === '' ? [] : [signingSecret, isUsed ? previous : ''].filter(Boolean),
    ...readSwitches(CHANNEL_SWITCHES, entry, path, problems),
    topics: readSwitches(TOPICS, topics, place, problems),
  };
}

function isChannelId(value: unknown): value is string {
  return typeof value === 'string' && CHANNEL_ID.test(value);
}

function isWebhookAddress(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > MAX_URL_CHARACTERS || !URL.canParse(value)) {
    return false;
  }
  const { protocol, username, password } = new URL(value);
  return ['https:', 'http:'].includes(protocol) && username === '' && password === '';
}

function readSwitches<Schema extends v.GenericSchema>(
  schema: Schema,
  fields: Readonly<Record<string, unknown>>,
  path: string,
  problems: InputProblem[],
): v.InferOutput<Schema> {
  const { success, output, issues } = v.safeParse(schema, fields);
  if (success) {
    return output;
  }
  const broken = issues.map((issue) => ({ name: v.getDotPath(issue) ?? '', ...issue }));
  broken.forEach(({ name, message }) => problems.push({ path: `${path}.${name}`, message }));
  const rest = Object.entries(fields).filter(([key]) => !broken.some(({ name }) => name === key));
  return v.parse(schema, Object.fromEntries(rest));
}

function recordIn(
  value: unknown,
  path: string,
  problems: InputProblem[],
): Readonly<Record<string, unknown>> {
  const record = value ?? {};
  if (isRecord(record)) {
    return record;
  }
  problems.push({ path, message: 'must be an object: the defaults hold' });
  return {};
}
