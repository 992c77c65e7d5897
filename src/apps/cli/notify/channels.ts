import type { SettingsFields } from '../../../packages/client/settings/account-settings.js';
import { readPreferences, type WebhookChannel } from '../../../packages/notify/preferences.js';
import { PRIVATE_HOSTS_VARIABLE } from '../../../packages/notify/environment.js';
import {
  addChannel,
  changeChannel,
  CHANNEL_TOPICS,
  makeSigningSecret,
  newChannel,
  removeChannel,
  type ChannelFields,
} from '../../../packages/notify/settings-changes.js';
import { requireSession } from '../account/current-session.js';
import type { CliContext } from '../command.js';
import { usageError } from '../cli-error.js';
import { signingSecret } from '../input.js';
import type { Listing } from '../output.js';
import type { AddOptions, SetOptions } from './channels.command.js';
import { readPermittedHosts, type SenderOptions } from './sender-session.js';
import {
  changeSettings,
  readSettings,
  refusing,
  type SettingsDocument,
} from './settings-document.js';

type Context = CliContext<SenderOptions>;

/** Names of topics by those of their events. */
const TOPICS_OF_EVENTS: Readonly<Record<string, string>> = {
  permission_request: 'permissionRequest',
  user_action_request: 'userActionRequest',
};

/** The defaults: all topics on, ready events without message text, request previews on. */
export async function add(context: CliContext<AddOptions>): Promise<void> {
  const current = await requireSession(context);
  const { options, environment } = context;
  const isNew = options.newSecret === true;
  const secret = isNew ? makeSigningSecret() : await signingSecret(options, environment);
  const url = context.args[0] ?? '';
  const channel = refusing(() =>
    newChannel({
      url,
      id: options.id,
      preset: options.preset,
      signingSecret: secret,
      topics: topicsOf(options.topics),
      readyIncludeMessageText: options.messageText === true,
      requestPreviews: options.previews !== false,
    }),
  );
  const written = await changeSettings(context, current, (fields) => addChannel(fields, channel));
  await noteIfRefused(context, url);
  const text = [
    `Added ${channel.id}${secret === null ? ', unsigned' : ', signed'}.`,
    ...(isNew ? [`Signing secret, shown only now: ${secret}`] : []),
  ];
  const kept = { keptIn: written.file ?? 'server', isSigned: secret !== null };
  context.output.result(
    { channel: { ...channel, signingSecret: isNew ? secret : undefined, ...kept } },
    text.join('\n'),
  );
}

export async function list(context: Context): Promise<void> {
  const document = await readSettings(context, await requireSession(context));
  const { channels, problems } = readPreferences(document.fields);
  const keptIn = document.file ?? 'server';
  const shown = channels.map((channel) => ({ ...summary(channel), keptIn }));
  await context.output.list(LISTING, shown);
  problems.forEach(({ path, message }) => context.output.note(`${path} ${message}`));
  if (!context.output.isJson) {
    context.output.note(describePlace(document));
  }
}

export async function set(context: CliContext<SetOptions>): Promise<void> {
  const { options } = context;
  const { url, topics, previews, messageText, secret, secretFile, newSecret } = options;
  const signing =
    newSecret === true
      ? makeSigningSecret()
      : // Not of the environment: it would replace a secret that this command does not name.
        await signingSecret({ secret, secretFile }, {});
  const changes: ChannelFields = {
    ...(url !== undefined && { url }),
    ...(topics !== undefined && { topics: topicsOf(topics) }),
    ...(previews !== undefined && { requestPreviews: previews }),
    ...(messageText !== undefined && { readyIncludeMessageText: messageText }),
  };
  if (signing === null && Object.keys(changes).length === 0) {
    throw usageError('Nothing to change is given.', 'See: gatehouse channels set --help');
  }
  const id = context.args[0] ?? '';
  const written = await changeSettings(context, await requireSession(context), (fields) =>
    changeChannel(fields, id, { ...changes, ...(signing !== null && { signingSecret: signing }) }),
  );
  if (url !== undefined) {
    await noteIfRefused(context, url);
  }
  const isShown = newSecret === true;
  const text = [
    `Changed ${id}.`,
    ...(isShown ? [`Signing secret, shown only now: ${signing}`] : []),
    ...(signing === null
      ? []
      : ['Deliveries carry the signature of the one before for a day, too.']),
  ];
  const shown = { ...changes, ...(isShown && { signingSecret: signing }) };
  context.output.result(
    { channel: { id, ...shown, keptIn: written.file ?? 'server' } },
    text.join('\n'),
  );
}

/** Reports an address that this computer refuses; names are looked up only when a delivery is sent. */
async function noteIfRefused({ environment, output }: CliContext, url: string): Promise<void> {
  const isRefused = await readPermittedHosts(environment);
  if (isRefused(url)) {
    const { hostname } = new URL(url);
    output.note(
      `This computer sends nothing to it yet: it is not on the public internet. Permit it: export ${PRIVATE_HOSTS_VARIABLE}=${hostname}`,
    );
  }
}

export const enable = (context: Context, enabled: boolean) =>
  change(context, enabled ? 'Enabled' : 'Disabled', (fields, id) =>
    changeChannel(fields, id, { enabled }),
  );

export const remove = (context: Context) => change(context, 'Removed', removeChannel);

async function change(
  context: Context,
  done: string,
  how: (fields: SettingsFields, id: string) => SettingsFields,
): Promise<void> {
  const id = context.args[0] ?? '';
  const current = await requireSession(context);
  await changeSettings(context, current, (fields) => how(fields, id));
  context.output.result({ channel: id, [done.toLowerCase()]: true }, `${done} ${id}.`);
}

function topicsOf(list: string | undefined): Record<string, boolean> {
  const named = list?.split(',').map((topic) => {
    const name = topic.trim();
    return TOPICS_OF_EVENTS[name] ?? name;
  });
  const unknown = named?.find((topic) => !CHANNEL_TOPICS.some((known) => known === topic));
  if (unknown !== undefined) {
    throw usageError(`"${unknown}" is not a topic. Topics: ${CHANNEL_TOPICS.join(', ')}.`);
  }
  return Object.fromEntries(CHANNEL_TOPICS.map((topic) => [topic, named?.includes(topic) ?? true]));
}

function summary({ id, url, enabled, preset, secrets, topics, ...switches }: WebhookChannel) {
  const on = Object.entries(topics).flatMap(([topic, isOn]) => (isOn ? [topic] : []));
  const { readyIncludeMessageText, requestPreviews } = switches;
  const previews = { readyIncludeMessageText, requestPreviews };
  const shown = preset === 'generic' ? withoutQuery(url) : new URL(url).origin;
  return { id, enabled, url: shown, preset, isSigned: secrets.length > 0, topics: on, ...previews };
}

const LISTING: Listing<ReturnType<typeof summary> & { readonly keptIn: string }> = {
  fields: [
    ...(['id', 'enabled', 'url', 'preset', 'isSigned', 'topics'] as const),
    ...(['readyIncludeMessageText', 'requestPreviews', 'keptIn'] as const),
  ],
  columns: [
    ['ID', ({ id }) => id],
    ['STATE', ({ enabled }) => (enabled ? 'on' : 'off')],
    ['PRESET', ({ preset, isSigned }) => `${preset}${isSigned ? ', signed' : ''}`],
    ['TOPICS', ({ topics }) => topics.join(',')],
    ['URL', ({ url }) => url],
  ],
  empty: 'No channels. Add one: gatehouse channels add URL',
};

/** The address of a chat's webhook authorizes its sender, so the secret part is not printed. */
function withoutQuery(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return `${origin}${pathname}${search === '' ? '' : '?…'}`;
}

function describePlace({ file, stored }: SettingsDocument): string {
  if (file !== null) {
    return `Stored in ${file}.`;
  }
  const how = stored?.content?.t === 'encrypted' ? ', end-to-end encrypted' : '';
  return `Stored in the account's settings on the server${how}.`;
}
