import { base64, base64urlnopad } from '@scure/base';
import type { SettingsFields } from '../client/settings/account-settings.js';
import { randomBytes } from '../client/crypto/bytes.js';
import { isRecord, recordOf } from '../../core/protocol/is-record.js';
import { isLongEnough, MIN_SECRET_BYTES } from './webhook/signing-secret.js';
import { CHANNELS_SETTING, PREFERENCES_SETTING, readPreferences } from './preferences.js';

/** A stored webhook channel, including fields that this version does not know. */
export type ChannelFields = Readonly<Record<string, unknown>>;

/** An invalid change of the channels. The message is for a person and contains no secret. */
export class ChannelRefused extends Error {
  override readonly name = 'ChannelRefused';

  constructor(
    readonly reason: 'invalid' | 'exists' | 'not-found' | 'not-a-list',
    message: string,
  ) {
    super(message);
  }
}

/** Values of a new channel; all other fields have defaults. */
export interface NewChannel {
  readonly url: string;
  /** Default: a new id. */
  readonly id?: string | undefined;
  /** One of `WEBHOOK_PRESETS`. */
  readonly preset?: string | undefined;
  /** null = unsigned. */
  readonly signingSecret: string | null;
  /** Default: all topics. */
  readonly topics?: Readonly<Record<string, boolean>>;
  readonly readyIncludeMessageText?: boolean;
  readonly requestPreviews?: boolean;
}

export const CHANNEL_TOPICS = ['ready', 'permissionRequest', 'userActionRequest'] as const;
const ALL_TOPICS = Object.fromEntries(CHANNEL_TOPICS.map((topic) => [topic, true]));
const ID_BYTES = 9;
const SECRET_BYTES = 32;
/** Time in which receivers switch to a new secret. */
const OVERLAP_MS = 24 * 60 * 60_000;

/**
 * The defaults: enabled, all topics, ready events without message text, request previews on.
 *
 * @throws ChannelRefused
 */
export function newChannel({
  url,
  preset,
  signingSecret,
  ...more
}: NewChannel): ChannelFields & { readonly id: string } {
  requireLongSecret(signingSecret);
  return valid({
    v: 1,
    id: more.id ?? `ch_${base64urlnopad.encode(randomBytes(ID_BYTES))}`,
    kind: 'webhook',
    enabled: true,
    url,
    signingSecret,
    topics: more.topics ?? ALL_TOPICS,
    readyIncludeMessageText: more.readyIncludeMessageText ?? false,
    requestPreviews: more.requestPreviews ?? true,
    ...(preset !== undefined && { preset }),
  });
}

/** Creates a signing secret in the format of Standard Webhooks: 32 random bytes. */
export function makeSigningSecret(): string {
  return `whsec_${base64.encode(randomBytes(SECRET_BYTES))}`;
}

function requireLongSecret(secret: unknown): void {
  if (typeof secret === 'string' && !isLongEnough(secret)) {
    const message = `A signing secret needs at least ${MIN_SECRET_BYTES} bytes; whsec_ secrets are base64.`;
    throw new ChannelRefused('invalid', message);
  }
}

/** Includes invalid channels, so that a change preserves them. */
function channelsOf(fields: SettingsFields): readonly unknown[] {
  const stored = fields[CHANNELS_SETTING] ?? [];
  if (!Array.isArray(stored)) {
    throw new ChannelRefused('not-a-list', `${CHANNELS_SETTING} in the settings is not a list.`);
  }
  return stored as readonly unknown[];
}

export function addChannel(fields: SettingsFields, channel: ChannelFields): SettingsFields {
  const channels = channelsOf(fields);
  if (channels.some((one) => isRecord(one) && one['id'] === channel['id'])) {
    throw new ChannelRefused('exists', `There is a channel ${String(channel['id'])} already.`);
  }
  return { ...fields, [CHANNELS_SETTING]: [...channels, channel] };
}

export function removeChannel(fields: SettingsFields, id: string): SettingsFields {
  return replaceChannel(fields, id, () => null);
}

/**
 * Changes some fields of a channel and keeps the rest. After a new `signingSecret`, the previous
 * one also signs for a day; null ends signing.
 *
 * @param now Unix milliseconds
 * @throws ChannelRefused
 */
export function changeChannel(
  fields: SettingsFields,
  id: string,
  changes: ChannelFields,
  now: number = Date.now(),
): SettingsFields {
  requireLongSecret(changes['signingSecret']);
  return replaceChannel(fields, id, (before) => {
    const after = { ...before, ...changes, ...keptSecret(before, changes, now) };
    // An invalid channel can still be disabled.
    return Object.keys(changes).every((name) => name === 'enabled') ? after : valid(after);
  });
}

function replaceChannel(
  fields: SettingsFields,
  id: string,
  change: (channel: ChannelFields) => ChannelFields | null,
): SettingsFields {
  const channels = channelsOf(fields);
  const hasId = (channel: unknown): channel is ChannelFields =>
    isRecord(channel) && channel['id'] === id;
  if (!channels.some(hasId)) {
    throw new ChannelRefused('not-found', `There is no channel ${id}.`);
  }
  const changed = channels.map((channel) => (hasId(channel) ? change(channel) : channel));
  return { ...fields, [CHANNELS_SETTING]: changed.filter((channel) => channel !== null) };
}

function keptSecret(
  { signingSecret: previous }: ChannelFields,
  { signingSecret: next }: ChannelFields,
  now: number,
): ChannelFields {
  if (next === null) {
    return { previousSigningSecret: null, previousSigningSecretExpiresAt: null };
  }
  const isReplaced = next !== undefined && typeof previous === 'string' && previous !== '';
  return isReplaced && next !== previous
    ? { previousSigningSecret: previous, previousSigningSecretExpiresAt: now + OVERLAP_MS }
    : {};
}

/** Uses the sender's reader, so that no stored channel is skipped by the sender. */
function valid<Channel extends ChannelFields>(channel: Channel): Channel {
  const [problem] = readPreferences({ [CHANNELS_SETTING]: [channel] }).problems;
  if (problem !== undefined) {
    const message = problem.message.replace(': this channel is skipped', '');
    throw new ChannelRefused('invalid', `The channel ${message}.`);
  }
  return channel;
}

/** @param changes fields of `notificationsSettingsV1`; the others stay unchanged */
export function changePreferences(
  fields: SettingsFields,
  changes: Readonly<Record<string, boolean | string>>,
): SettingsFields {
  const before = recordOf(fields[PREFERENCES_SETTING]);
  return { ...fields, [PREFERENCES_SETTING]: { v: 1, ...before, ...changes } };
}
