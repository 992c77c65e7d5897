import { isRecord } from '../../client/problem.js';
import { readPreferences } from '../../notify/preferences.js';
import { CliError } from '../cli-error.js';
import type { CliContext } from '../context.js';
import { requireSession } from '../current-session.js';
import { EXIT } from '../exit-codes.js';
import { changeSettings, readSettings, type SettingsFields } from './notify-settings.js';

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
const WORDS: Readonly<Record<string, boolean>> = {
  on: true,
  true: true,
  yes: true,
  off: false,
  false: false,
  no: false,
};

/** Prints each preference, or the one named, with its default where nothing is saved. */
export async function get(context: CliContext): Promise<number> {
  const document = await readSettings(context, await requireSession(context));
  const { problems } = readPreferences(document.fields);
  const all = effective(document.fields);
  const [name] = context.args;
  if (name !== undefined && !Object.hasOwn(all, name)) {
    throw unknownName(name);
  }
  const chosen = name === undefined ? all : { [name]: all[name] };
  const mine = problems.filter(({ path }) => path.startsWith(NAME));
  const words = [
    ...Object.entries(chosen).map(([key, value]) => `${key} = ${worded(value)}`),
    ...mine.map(({ path, message }) => `${path} ${message}`),
  ];
  const { file } = document;
  context.output.result(
    { preferences: chosen, problems: mine, keptIn: file ?? 'server' },
    words.join('\n'),
  );
  return EXIT.ok;
}

/** Takes `name=value`, several at once. */
export async function set(context: CliContext): Promise<number> {
  const changes = Object.fromEntries(context.args.map(parse));
  const current = await requireSession(context);
  const written = await changeSettings(context, current, (fields) => ({
    ...fields,
    [NAME]: { v: 1, ...storedIn(fields), ...changes },
  }));
  const preferences = effective(written.fields);
  const words = Object.keys(changes).map((name) => `${name} = ${worded(preferences[name])}`);
  context.output.result({ preferences, keptIn: written.file ?? 'server' }, words.join('\n'));
  return EXIT.ok;
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
      throw usage(`foregroundBehavior is one of ${FOREGROUND.join(', ')}.`);
    }
    return [name, value];
  }
  if (!Object.hasOwn(SWITCHES, name)) {
    throw unknownName(name);
  }
  const isOn = Object.hasOwn(WORDS, value) ? WORDS[value] : undefined;
  if (isOn === undefined) {
    throw usage(`${name} is on or off. Write: gatehouse preferences set ${name}=off`);
  }
  return [name, isOn];
}

function unknownName(name: string): CliError {
  const names = [...Object.keys(SWITCHES), 'foregroundBehavior'].join(', ');
  return usage(`There is no preference "${name}": ${names}.`);
}

function usage(message: string): CliError {
  return new CliError(message, { exitCode: EXIT.usage, code: 'usage' });
}

function worded(value: unknown): string {
  const word = value === true ? 'on' : 'off';
  return typeof value === 'boolean' ? word : String(value);
}
