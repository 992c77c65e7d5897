import { isRecord } from '../../client/is-record.js';
import { command, type CommandGroup } from '../command.js';
import { usageError } from '../cli-error.js';
import { SERVER, SETTINGS_FILE } from '../options.js';
import type { SettingsFields } from './settings-document.js';

const NAME = 'notificationsSettingsV1';
const FOREGROUND = ['full', 'silent', 'off'] as const;
const SWITCHES: Readonly<Record<string, boolean>> = {
  pushEnabled: true,
  ready: true,
  permissionRequest: true,
  userActionRequest: true,
  readyIncludeMessageText: false,
  requestPreviews: true,
};
const BOOLEANS: Readonly<Record<string, boolean>> = {
  on: true,
  true: true,
  yes: true,
  off: false,
  false: false,
  no: false,
};

/** Shows and changes the account's notification preferences. */
export const preferences: CommandGroup = {
  name: 'preferences',
  description: "show or change the account's notification preferences",
  commands: [
    command({
      name: 'get',
      description: 'show all, with defaults where nothing is saved, or one',
      args: [['[name]', 'of a preference']],
      options: [SETTINGS_FILE, SERVER],
      examples: ['gatehouse preferences get'],
      async run(context) {
        const { previewsInEffect, readSettings, requireSession, readPreferences } = await load();
        const { fields, file } = await readSettings(context, await requireSession(context));
        const all = effective(fields);
        const [name] = context.args;
        if (name !== undefined && !Object.hasOwn(all, name)) {
          throw unknownName(name);
        }
        const chosen = name === undefined ? all : { [name]: all[name] };
        const stored = readPreferences(fields);
        const problems = stored.problems.filter(({ path }) => path.startsWith(NAME));
        const previews = previewsInEffect(context, stored);
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
      description: 'change some',
      args: [['<name=value...>', 'on or off; foregroundBehavior: full, silent or off']],
      options: [SETTINGS_FILE, SERVER],
      examples: ['gatehouse preferences set requestPreviews=off ready=on'],
      async run(context) {
        const changes = Object.fromEntries(context.args.map(parse));
        const { changeSettings, requireSession } = await load();
        const current = await requireSession(context);
        const { fields, file } = await changeSettings(context, current, (before) => ({
          ...before,
          [NAME]: { v: 1, ...storedIn(before), ...changes },
        }));
        const all = effective(fields);
        const text = Object.keys(changes).map((name) => assignment(name, all));
        const value = { preferences: all, keptIn: file ?? 'server' };
        context.output.result(value, text.join('\n'));
      },
    }),
  ],
};

async function load() {
  const { requireSession } = await import('../account/current-session.js');
  const { changeSettings, readSettings } = await import('./settings-document.js');
  const { previewsInEffect } = await import('./build-previews.js');
  const { readPreferences } = await import('../../notify/preferences.js');
  return { requireSession, changeSettings, readSettings, readPreferences, previewsInEffect };
}

function effective(fields: SettingsFields): Record<string, unknown> {
  const stored = storedIn(fields);
  const switches = Object.entries(SWITCHES).map(([name, otherwise]): [string, boolean] => {
    const value = stored[name];
    return [name, typeof value === 'boolean' ? value : otherwise];
  });
  const foreground = FOREGROUND.find((known) => known === stored['foregroundBehavior']) ?? 'full';
  return { ...Object.fromEntries<unknown>(switches), foregroundBehavior: foreground };
}

function storedIn(fields: SettingsFields): SettingsFields {
  const stored = fields[NAME];
  return isRecord(stored) ? stored : {};
}

function parse(text: string): [string, boolean | string] {
  const at = text.indexOf('=');
  const name = at === -1 ? text : text.slice(0, at);
  const value = at === -1 ? '' : text.slice(at + 1).toLowerCase();
  if (name === 'foregroundBehavior') {
    if (!FOREGROUND.some((known) => known === value)) {
      throw usageError(`foregroundBehavior is one of ${FOREGROUND.join(', ')}.`);
    }
    return [name, value];
  }
  if (!Object.hasOwn(SWITCHES, name)) {
    throw unknownName(name);
  }
  const isOn = Object.hasOwn(BOOLEANS, value) ? BOOLEANS[value] : undefined;
  if (isOn === undefined) {
    throw usageError(`${name} is on or off. Write: gatehouse preferences set ${name}=off`);
  }
  return [name, isOn];
}

function unknownName(name: string): Error {
  const names = [...Object.keys(SWITCHES), 'foregroundBehavior'].join(', ');
  return usageError(`There is no preference "${name}": ${names}.`);
}

function assignment(name: string, values: Readonly<Record<string, unknown>>): string {
  const value = values[name];
  const text = value === true ? 'on' : 'off';
  return `${name} = ${typeof value === 'boolean' ? text : String(value)}`;
}
