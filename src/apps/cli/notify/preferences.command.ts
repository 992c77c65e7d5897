import type { Preferences } from '../../../packages/notify/preferences.js';
import { command, type CommandGroup } from '../command.js';
import { usageError } from '../cli-error.js';
import { SERVER, SETTINGS_FILE, YES } from '../options.js';

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

export const preferences: CommandGroup = {
  name: 'preferences',
  description: "show or change the account's notification preferences",
  commands: [
    command({
      name: 'get',
      description: 'show all preferences, with defaults where nothing is saved, or one of them',
      args: [['[name]', 'of a preference']],
      options: [SETTINGS_FILE, SERVER],
      examples: ['gatehouse preferences get'],
      async run(context) {
        const { previewsInEffect, readSettings, requireSession, readPreferences, setting } =
          await load();
        const { fields, file } = await readSettings(context, await requireSession(context));
        const stored = readPreferences(fields);
        const all = effective(stored);
        const [name] = context.args;
        if (name !== undefined && !Object.hasOwn(all, name)) {
          throw unknownName(name);
        }
        const chosen = name === undefined ? all : { [name]: all[name] };
        const problems = stored.problems.filter(({ path }) => path.startsWith(setting));
        const previews = previewsInEffect(stored.push);
        const lines = problems.map(({ path, message }) => `${path} ${message}`);
        if (name === undefined || name === 'requestPreviews') {
          const { isOn, because } = previews;
          lines.unshift(`request previews in effect: ${isOn ? 'on' : 'off'}, because ${because}`);
        }
        context.output.result(
          {
            preferences: chosen,
            requestPreviewsInEffect: previews,
            problems,
            keptIn: file ?? 'server',
          },
          [...Object.keys(chosen).map((key) => assignment(key, chosen)), ...lines].join('\n'),
        );
      },
    }),
    command({
      name: 'set',
      description: 'change one or more preferences',
      args: [['<name=value...>', 'on or off; foregroundBehavior: full, silent or off']],
      options: [SETTINGS_FILE, SERVER],
      examples: ['gatehouse preferences set requestPreviews=off ready=on'],
      async run(context) {
        const changes = Object.fromEntries(context.args.map(parse));
        const { changeSettings, changePreferences, requireSession, readPreferences } = await load();
        const current = await requireSession(context);
        const { fields, file } = await changeSettings(context, current, (before) =>
          changePreferences(before, changes),
        );
        const all = effective(readPreferences(fields));
        const text = Object.keys(changes).map((name) => assignment(name, all));
        const value = { preferences: all, keptIn: file ?? 'server' };
        context.output.result(value, text.join('\n'));
      },
    }),
    command({
      name: 'accept',
      description: 'accept settings that are older than those that this computer has seen',
      options: [YES, SERVER],
      help: `
An older app or a restored backup can bring older settings back, and so can a server that wants to
deceive. Until you accept them, this computer sends no notification. It shows the webhooks of the
settings, and asks.
`,
      examples: ['gatehouse preferences accept'],
      run: async (context) => (await import('./accept-settings.js')).accept(context),
    }),
  ],
};

async function load() {
  const { requireSession } = await import('../account/current-session.js');
  const { changeSettings, readSettings } = await import('./settings-document.js');
  const { previewsInEffect } = await import('./build-previews.js');
  const { PREFERENCES_SETTING: setting, readPreferences } =
    await import('../../../packages/notify/preferences.js');
  const { changePreferences } = await import('../../../packages/notify/settings-changes.js');
  return {
    requireSession,
    changeSettings,
    changePreferences,
    readSettings,
    readPreferences,
    previewsInEffect,
    setting,
  };
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
  return usageError(`There is no preference "${name}": ${Object.keys(CHOICES).join(', ')}.`);
}

function assignment(name: string, values: Readonly<Record<string, unknown>>): string {
  const value = values[name];
  const text = value === true ? 'on' : 'off';
  return `${name} = ${typeof value === 'boolean' ? text : String(value)}`;
}
