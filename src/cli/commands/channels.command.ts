import { randomBytes } from 'node:crypto';
import { isRecord } from '../../client/problem.js';
import { readPreferences, type WebhookChannel } from '../../notify/preferences.js';
import { CliError } from '../cli-error.js';
import type { CliContext } from '../context.js';
import { requireSession } from '../current-session.js';
import { EXIT } from '../exit-codes.js';
import { givenSecret } from '../given-file.js';
import { addChannel, changeChannel, type ChannelFields } from './channels-document.js';
import { notifyOptions, type NotifyCliOptions } from './notify-options.js';
import { changeSettings, readSettings, type SettingsDocument } from './notify-settings.js';
import { deliverTest } from './notify-test-delivery.js';
import { wordsOfLine } from './notify-report.js';

const TOPICS = ['ready', 'permissionRequest', 'userActionRequest'] as const;

/** Adds a webhook: all topics on, ready events without message text, request previews on. */
export async function add(context: CliContext): Promise<number> {
  const current = await requireSession(context);
  const options = notifyOptions(context);
  const secret = await secretOf(context);
  const channel: ChannelFields = {
    v: 1,
    id: options.id ?? `ch_${randomBytes(9).toString('base64url')}`,
    kind: 'webhook',
    enabled: true,
    url: context.args[0] ?? '',
    signingSecret: secret,
    topics: topicsOf(options),
    readyIncludeMessageText: options.messageText === true,
    requestPreviews: options.previews !== false,
    ...(options.preset !== undefined && { preset: options.preset }),
  };
  refuseBroken(channel);
  const written = await changeSettings(context, current, (fields) => {
    refuseRepeated(fields, String(channel['id']));
    return addChannel(fields, channel);
  });
  const isNew = options.newSecret === true;
  const words = [
    `Added ${String(channel['id'])}${secret === null ? ', unsigned' : ', signed'}.`,
    ...(isNew ? [`Signing secret, shown only now: ${secret}`] : []),
  ];
  const kept = { keptIn: written.file ?? 'server', isSigned: secret !== null };
  context.output.result(
    { channel: { ...channel, signingSecret: isNew ? secret : undefined, ...kept } },
    words.join('\n'),
  );
  return EXIT.ok;
}

export async function list(context: CliContext): Promise<number> {
  const document = await readSettings(context, await requireSession(context));
  const { channels, problems } = readPreferences(document.fields);
  const shown = channels.map(describe);
  const words = [
    ...(shown.length === 0 ? ['No channels. Add one: gatehouse channels add URL'] : []),
    ...shown.map(
      ({ id, url, enabled, preset, isSigned, topics }) =>
        `${id}  ${enabled ? 'on ' : 'off'}  ${preset}${isSigned ? ', signed' : ''}  ${topics.join(',')}  ${url}`,
    ),
    ...problems.map(({ path, message }) => `${path} ${message}`),
    placeOf(document),
  ];
  context.output.result(
    { channels: shown, problems, keptIn: document.file ?? 'server' },
    words.join('\n'),
  );
  return EXIT.ok;
}

export const enable = (context: CliContext) => change(context, 'Enabled', switched(true));
export const disable = (context: CliContext) => change(context, 'Disabled', switched(false));
export const remove = (context: CliContext) => change(context, 'Removed', () => null);

/** Sends a test to one channel, enabled or not, and says what it answered. */
export async function test(context: CliContext): Promise<number> {
  const document = await readSettings(context, await requireSession(context));
  const id = context.args[0] ?? '';
  const { channels } = readPreferences(document.fields);
  const channel = channels.find((one) => one.id === id);
  if (channel === undefined) {
    // Says which ids there are, or what is broken about this one.
    changeChannel(document.fields, id, () => null);
    throw new CliError(`The channel ${id} is broken.`, {
      exitCode: EXIT.refused,
      code: 'broken-channel',
      hint: 'See what is wrong: gatehouse channels list',
    });
  }
  const [line] = await deliverTest(context, { channels: [channel], tokens: [] });
  if (line !== undefined) {
    context.output.result(line, wordsOfLine(line));
  }
  return line?.state === 'sent' ? EXIT.ok : EXIT.refused;
}

const switched = (enabled: boolean) => (channel: ChannelFields) => ({ ...channel, enabled });

async function change(
  context: CliContext,
  done: string,
  how: (channel: ChannelFields) => ChannelFields | null,
): Promise<number> {
  const id = context.args[0] ?? '';
  const current = await requireSession(context);
  await changeSettings(context, current, (fields) => changeChannel(fields, id, how));
  context.output.result({ channel: id, [done.toLowerCase()]: true }, `${done} ${id}.`);
  return EXIT.ok;
}

async function secretOf({ options, environment }: CliContext): Promise<string | null> {
  const given = notifyOptions({ options });
  return given.newSecret === true
    ? `whsec_${randomBytes(32).toString('base64')}`
    : givenSecret(given, environment);
}

function topicsOf({ topics }: NotifyCliOptions): Record<string, boolean> {
  const named = topics?.split(',').map((topic) => topic.trim());
  const unknown = named?.find((topic) => !TOPICS.some((known) => known === topic));
  if (unknown !== undefined) {
    throw usage(`"${unknown}" is no topic: ${TOPICS.join(', ')}.`);
  }
  return Object.fromEntries(TOPICS.map((topic) => [topic, named?.includes(topic) ?? true]));
}

/** The sender's own reader judges, so that nothing is stored that it would skip. */
function refuseBroken(channel: ChannelFields): void {
  const [problem] = readPreferences({ notificationChannelsV1: [channel] }).problems;
  if (problem !== undefined) {
    throw usage(`The channel ${problem.message.replace(': this channel is skipped', '')}.`);
  }
}

function refuseRepeated(fields: Readonly<Record<string, unknown>>, id: string): void {
  const stored = fields['notificationChannelsV1'];
  if (Array.isArray(stored) && stored.some((one) => isRecord(one) && one['id'] === id)) {
    throw usage(`There is a channel ${id} already.`);
  }
}

function usage(message: string): CliError {
  return new CliError(message, { exitCode: EXIT.usage, code: 'usage' });
}

function describe({ id, url, enabled, preset, secrets, topics, ...switches }: WebhookChannel) {
  const on = Object.entries(topics).flatMap(([topic, isOn]) => (isOn ? [topic] : []));
  const { readyIncludeMessageText, requestPreviews } = switches;
  const previews = { readyIncludeMessageText, requestPreviews };
  const shown = preset === 'generic' ? withoutQuery(url) : new URL(url).origin;
  return { id, enabled, url: shown, preset, isSigned: secrets.length > 0, topics: on, ...previews };
}

/** Whoever knows the address of a chat's webhook can write there: the secret part is not shown. */
function withoutQuery(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return `${origin}${pathname}${search === '' ? '' : '?…'}`;
}

function placeOf({ file, isEncrypted }: SettingsDocument): string {
  if (file === null) {
    return "Kept in the account's settings on the server.";
  }
  return isEncrypted
    ? `The account's settings are end-to-end encrypted, so this is what ${file} says.`
    : `Kept in ${file}.`;
}
