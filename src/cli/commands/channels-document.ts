import { isRecord } from '../../client/problem.js';
import { CliError } from '../cli-error.js';
import { EXIT } from '../exit-codes.js';
import type { SettingsFields } from './notify-settings.js';

export type ChannelFields = Readonly<Record<string, unknown>>;

const NAME = 'notificationChannelsV1';

/** The channels as they are stored, broken ones included: what is not changed is kept as it is. */
export function channelsOf(fields: SettingsFields): readonly unknown[] {
  const stored = fields[NAME] ?? [];
  if (!Array.isArray(stored)) {
    throw new CliError(`${NAME} in the settings is no list.`, {
      exitCode: EXIT.refused,
      code: 'settings-unreadable',
      hint: 'Repair the settings, or save the channels anew in the app.',
    });
  }
  return stored as readonly unknown[];
}

export function addChannel(fields: SettingsFields, channel: ChannelFields): SettingsFields {
  return { ...fields, [NAME]: [...channelsOf(fields), channel] };
}

/**
 * @param change gives the channel as it shall be; null = removed
 * @throws CliError when there is none of that id
 */
export function changeChannel(
  fields: SettingsFields,
  id: string,
  change: (channel: ChannelFields) => ChannelFields | null,
): SettingsFields {
  const channels = channelsOf(fields);
  const isMeant = (channel: unknown): channel is ChannelFields =>
    isRecord(channel) && channel['id'] === id;
  if (!channels.some(isMeant)) {
    throw new CliError(`There is no channel ${id}.`, {
      exitCode: EXIT.refused,
      code: 'not-found',
      hint: 'See them all: gatehouse channels list',
    });
  }
  const changed = channels.map((channel) => (isMeant(channel) ? change(channel) : channel));
  return { ...fields, [NAME]: changed.filter((channel) => channel !== null) };
}
