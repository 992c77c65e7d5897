import { readRequestPreviews } from '../client/request-previews.js';
import { isRecord } from '../client/problem.js';
import type { ContentSwitches } from './content.js';
import type { NotificationTopic } from './notification-event.js';
import type { InputProblem } from './read-event.js';
import { isWebhookPreset, WEBHOOK_PRESETS, type WebhookPreset } from './webhook-presets.js';

export type TopicSwitches = Readonly<Record<NotificationTopic, boolean>>;

export interface WebhookChannel extends ContentSwitches {
  readonly id: string;
  readonly enabled: boolean;
  readonly url: string;
  readonly preset: WebhookPreset;
  /** The secret in use, and while one is being replaced the one before. Empty = unsigned. */
  readonly secrets: readonly string[];
  readonly topics: TopicSwitches;
}

export interface Preferences {
  readonly push: ContentSwitches & { readonly enabled: boolean; readonly topics: TopicSwitches };
  readonly channels: readonly WebhookChannel[];
  /** What is broken and was replaced by its default, or skipped. Holds no secret. */
  readonly problems: readonly InputProblem[];
}

type Fields = Readonly<Record<string, unknown>>;
type Complain = (path: string, message: string) => void;

const MAX_ID_CHARACTERS = 128;
const MAX_URL_CHARACTERS = 2048;

/**
 * Reads `notificationsSettingsV1` and `notificationChannelsV1` out of an account's settings
 * (contract, The sender and the notification preferences). Never fails: a missing field has its
 * default, a broken one its default and a problem, and a broken channel is left out with a problem.
 */
export function readPreferences(settings: unknown): Preferences {
  const problems: InputProblem[] = [];
  const complain: Complain = (path, message) => problems.push({ path, message });
  const document = recordIn(settings ?? {}, 'settings', complain);
  const name = 'notificationsSettingsV1';
  const fields = recordIn(document[name] ?? {}, name, complain);
  const push = {
    enabled: switchIn(fields, 'pushEnabled', true, name, complain),
    topics: topicsIn(fields, name, complain),
    ...contentSwitchesIn(fields, name, complain),
  };
  return { push, channels: channelsIn(document['notificationChannelsV1'], complain), problems };
}

function channelsIn(value: unknown, complain: Complain): WebhookChannel[] {
  const name = 'notificationChannelsV1';
  if (value !== undefined && value !== null && !Array.isArray(value)) {
    complain(name, 'must be a list: no channel is served');
  }
  const seen = new Set<string>();
  return (Array.isArray(value) ? value : []).flatMap((entry: unknown, index) => {
    const path = `${name}[${index}]`;
    const channel = isRecord(entry) ? channelIn(entry, path, complain) : 'is no channel';
    const problem = isProblem(channel) ? channel : repeated(channel.id, seen);
    if (problem !== null) {
      complain(path, `${problem}: this channel is skipped`);
    }
    return isProblem(channel) || problem !== null ? [] : [channel];
  });
}

const isProblem = (channel: WebhookChannel | string): channel is string =>
  typeof channel === 'string';

function repeated(id: string, seen: Set<string>): string | null {
  const isRepeated = seen.has(id);
  seen.add(id);
  return isRepeated ? `has the id ${JSON.stringify(id)} of a channel before it` : null;
}

function channelIn(fields: Fields, path: string, complain: Complain): WebhookChannel | string {
  const { id, url, preset = 'generic' } = fields;
  if ((fields['v'] ?? 1) !== 1 || (fields['kind'] ?? 'webhook') !== 'webhook') {
    return 'is of a version or kind that this sender does not know';
  }
  if (typeof id !== 'string' || id === '' || id.length > MAX_ID_CHARACTERS) {
    return `needs an id of 1 to ${MAX_ID_CHARACTERS} characters`;
  }
  if (typeof url !== 'string' || !isWebhookAddress(url)) {
    return `needs a url of up to ${MAX_URL_CHARACTERS} characters that begins with https:// or http:// and holds no user name or password`;
  }
  if (!isWebhookPreset(preset)) {
    return `needs one of these presets: ${WEBHOOK_PRESETS.join(', ')}`;
  }
  const secrets = secretsIn(fields);
  if (secrets === null) {
    return 'has a signing secret that is no text';
  }
  const topics = recordIn(fields['topics'] ?? {}, `${path}.topics`, complain);
  return {
    id,
    url,
    preset,
    secrets,
    enabled: switchIn(fields, 'enabled', true, path, complain),
    topics: topicsIn(topics, `${path}.topics`, complain),
    ...contentSwitchesIn(fields, path, complain),
  };
}

/** A secret that cannot be read must not turn a signed channel into an unsigned one. */
function secretsIn(fields: Fields): string[] | null {
  const secrets = [fields['signingSecret'], fields['previousSigningSecret']].map(
    (one) => one ?? '',
  );
  return secrets.every((secret) => typeof secret === 'string')
    ? secrets.filter((secret) => secret !== '')
    : null;
}

function isWebhookAddress(text: string): boolean {
  if (text.length > MAX_URL_CHARACTERS || !URL.canParse(text)) {
    return false;
  }
  const { protocol, username, password } = new URL(text);
  return ['https:', 'http:'].includes(protocol) && username === '' && password === '';
}

function topicsIn(fields: Fields, path: string, complain: Complain): TopicSwitches {
  return {
    ready: switchIn(fields, 'ready', true, path, complain),
    permission_request: switchIn(fields, 'permissionRequest', true, path, complain),
    user_action_request: switchIn(fields, 'userActionRequest', true, path, complain),
  };
}

function contentSwitchesIn(fields: Fields, path: string, complain: Complain): ContentSwitches {
  switchIn(fields, 'requestPreviews', true, path, complain);
  return {
    readyIncludeMessageText: switchIn(fields, 'readyIncludeMessageText', false, path, complain),
    requestPreviews: readRequestPreviews(fields),
  };
}

function switchIn(
  fields: Fields,
  name: string,
  otherwise: boolean,
  path: string,
  complain: Complain,
): boolean {
  const value = fields[name] ?? otherwise;
  if (typeof value === 'boolean') {
    return value;
  }
  complain(`${path}.${name}`, `must be true or false: taken as ${otherwise}`);
  return otherwise;
}

function recordIn(value: unknown, path: string, complain: Complain): Fields {
  if (isRecord(value)) {
    return value;
  }
  complain(path, 'must be an object: the defaults hold');
  return {};
}
