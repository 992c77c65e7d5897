import type { SettingsFields } from '../../../packages/client/settings/account-settings.js';
import {
  PREFERENCES_SETTING,
  readPreferences,
  type Preferences,
} from '../../../packages/notify/preferences.js';
import { changePreferences } from '../../../packages/notify/settings-changes.js';
import { requireSession, type CurrentSession } from '../account/current-session.js';
import { refusedError, usageError } from '../cli-error.js';
import type { CliContext, OptionsOf } from '../command.js';
import { readYes } from '../input.js';
import type { SERVER, SETTINGS_FILE } from '../options.js';
import { previewsInEffect } from './build-previews.js';
import { acceptSettings, changeSettings, isRefused, readSettings } from './settings-document.js';

type Context = CliContext<
  OptionsOf<readonly [typeof SERVER, typeof SETTINGS_FILE]> & { readonly yes?: boolean }
>;

const ON_OFF = { on: true, true: true, yes: true, off: false, false: false, no: false };
/** The values of each preference by their option text. */
const CHOICES: Readonly<Record<string, Readonly<Record<string, boolean | string>>>> = {
  pushEnabled: ON_OFF,
  ready: ON_OFF,
  permissionRequest: ON_OFF,
  userActionRequest: ON_OFF,
  readyIncludeMessageText: ON_OFF,
  requestPreviews: ON_OFF,
  foregroundBehavior: { full: 'full', silent: 'silent', off: 'off' },
};

/** Shows all preferences, with defaults where nothing is saved, or one of them. */
export async function get(context: Context): Promise<void> {
  const { fields, file } = await readSettings(context, await requireSession(context));
  const stored = readPreferences(fields);
  const all = effective(stored);
  const [name] = context.args;
  if (name !== undefined && !Object.hasOwn(all, name)) {
    throw unknownName(name);
  }
  const preferences = name === undefined ? all : { [name]: all[name] };
  const problems = stored.problems.filter(({ path }) => path.startsWith(PREFERENCES_SETTING));
  const previews = previewsInEffect(stored.push);
  const lines = problems.map(({ path, message }) => `${path} ${message}`);
  if (name === undefined || name === 'requestPreviews') {
    const { isOn, because } = previews;
    lines.unshift(`request previews in effect: ${isOn ? 'on' : 'off'}, because ${because}`);
  }
  context.output.result(
    { preferences, requestPreviewsInEffect: previews, problems, keptIn: file ?? 'server' },
    [...Object.keys(preferences).map((key) => assignment(key, preferences)), ...lines].join('\n'),
  );
}

export async function set(context: Context): Promise<void> {
  const changes = Object.fromEntries(context.args.map(parse));
  const current = await requireSession(context);
  const { fields, file } = await changeSettings(context, current, (before) =>
    changePreferences(before, changes),
  );
  const preferences = effective(readPreferences(fields));
  const text = Object.keys(changes).map((name) => assignment(name, preferences));
  context.output.result({ preferences, keptIn: file ?? 'server' }, text.join('\n'));
}

/** Accepts settings that this computer refuses as older or others, once the person confirmed them. */
export async function accept(context: Context): Promise<void> {
  const current = await requireSession(context);
  const { server } = current.session;
  const refusal = await refusalOf(context, current);
  if (refusal === null) {
    context.output.result({ server, accepted: false }, 'There is nothing to accept.');
    return;
  }
  context.output.note(refusal);
  const accepted = await acceptSettings(current, (fields) => confirm(context, fields));
  if (accepted === null) {
    throw refusedError('The settings were not accepted.', 'not-confirmed');
  }
  context.output.result({ server, accepted: true }, 'Accepted. This computer uses them now.');
}

async function refusalOf(context: Context, current: CurrentSession): Promise<string | null> {
  try {
    await readSettings({ ...context, options: {} }, current);
    return null;
  } catch (error) {
    if (isRefused(error)) {
      return error.message;
    }
    throw error;
  }
}

async function confirm({ options, output }: Context, fields: SettingsFields): Promise<boolean> {
  const { push, channels, receivers } = readPreferences(fields);
  const preview = push.requestPreviews ? 'on' : 'off';
  output.note(`Push is ${push.enabled ? 'on' : 'off'}, and request previews are ${preview}.`);
  // A list that is gone lets a device read that a stolen session added.
  const shows = receivers === null ? 'all, as none is confirmed' : `${receivers.size} confirmed`;
  output.note(`Devices that show text: ${shows}.`);
  const lines = channels.map(
    ({ id, enabled, url }) => `  ${id}  ${enabled ? 'on' : 'off'}  ${new URL(url).origin}`,
  );
  output.note(lines.length === 0 ? 'There are no webhooks.' : `Webhooks:\n${lines.join('\n')}`);
  if (options.yes === true) {
    return true;
  }
  output.note('Use these settings? [y/N]');
  return readYes();
}

function effective({ push, foregroundBehavior }: Preferences): Record<string, unknown> {
  const { enabled, topics, ...content } = push;
  return {
    pushEnabled: enabled,
    ready: topics.ready,
    permissionRequest: topics.permission_request,
    userActionRequest: topics.user_action_request,
    ...content,
    foregroundBehavior,
  };
}

function parse(text: string): [string, boolean | string] {
  const at = text.indexOf('=');
  const name = at === -1 ? text : text.slice(0, at);
  const value = at === -1 ? '' : text.slice(at + 1).toLowerCase();
  const choices = Object.hasOwn(CHOICES, name) ? CHOICES[name] : undefined;
  if (choices === undefined) {
    throw unknownName(name);
  }
  const chosen = Object.hasOwn(choices, value) ? choices[value] : undefined;
  if (chosen === undefined) {
    throw usageError(
      choices === ON_OFF
        ? `${name} is on or off. Write: gatehouse preferences set ${name}=off`
        : `${name} is one of ${Object.keys(choices).join(', ')}.`,
    );
  }
  return [name, chosen];
}

function unknownName(name: string): Error {
  return usageError(
    `"${name}" is not a preference. Preferences: ${Object.keys(CHOICES).join(', ')}.`,
  );
}

function assignment(name: string, values: Readonly<Record<string, unknown>>): string {
  const value = values[name];
  const text = value === true ? 'on' : 'off';
  return `${name} = ${typeof value === 'boolean' ? text : String(value)}`;
}
