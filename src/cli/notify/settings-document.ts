import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { GatehouseProblem } from '../../client/api/problem.js';
import { isRecord } from '../../client/is-record.js';
import type { CurrentSession } from '../account/current-session.js';
import type { CliContext } from '../command.js';
import { refusedError, usageError } from '../cli-error.js';
import { readInputFile } from '../input.js';
import {
  makePrivateDirectory,
  readIfExists,
  writePrivateFile,
} from '../../common/private-files.js';

export type SettingsContext = CliContext<{ readonly settingsFile?: string | undefined }>;
export type SettingsFields = Readonly<Record<string, unknown>>;

/** An account's notification settings, with the place they were read from and are written to. */
export interface SettingsDocument {
  /** All fields, unknown ones included. */
  readonly fields: SettingsFields;
  /** null = on the server. */
  readonly file: string | null;
  /** Of the server's copy; 0 where none was ever written. */
  readonly version: number;
  /** Whether the account's settings are end-to-end encrypted, so that only its apps can read them. */
  readonly isEncrypted: boolean;
  /** False where nothing was saved. */
  readonly isSaved: boolean;
}

/** The choice made in the app is unreadable here, and may have been to hide requests. */
const NO_PREVIEWS: SettingsFields = {
  notificationsSettingsV1: { v: 1, requestPreviews: false },
};
const MAX_WRITES = 5;

/**
 * The settings document of the session's account: --settings-file, else the server's copy, else (the
 * server cannot read an encrypted one) this user's file for that server.
 *
 * @param mayBeMissing whether a missing --settings-file counts as one without settings
 */
export async function readSettings(
  { options: { settingsFile } }: SettingsContext,
  { session, store, client }: CurrentSession,
  mayBeMissing = false,
): Promise<SettingsDocument> {
  if (settingsFile !== undefined) {
    const file = resolve(settingsFile);
    const isSaved = !mayBeMissing || (await isThere(file));
    const fields = isSaved ? fieldsIn((await readInputFile(file)).toString('utf8'), file) : null;
    return { fields: fields ?? {}, file, version: 0, isEncrypted: false, isSaved };
  }
  const { content, version } = await client.settings.read().catch(emptyForOlderServers);
  if (content?.t === 'plain') {
    const fields = fieldsIn(content.v, session.server);
    return { fields, file: null, version, isEncrypted: false, isSaved: true };
  }
  const file = store.notificationsFile(session.server);
  const local = await readSettingsFile(file);
  const isEncrypted = content?.t === 'encrypted';
  if (local !== null || isEncrypted) {
    const fields = local ?? NO_PREVIEWS;
    return { fields, file, version, isEncrypted, isSaved: local !== null };
  }
  return { fields: {}, file: null, version, isEncrypted, isSaved: false };
}

/** Changes the document where it is stored; again after a concurrent change. */
export async function changeSettings(
  context: SettingsContext,
  current: CurrentSession,
  change: (fields: SettingsFields) => SettingsFields,
): Promise<SettingsDocument> {
  for (let tries = 0; tries < MAX_WRITES; tries += 1) {
    const read = await readSettings(context, current, true);
    const document = await locate(context, current, read);
    const written = { ...document, fields: change(document.fields), isSaved: true };
    if (await write(current, written)) {
      return written;
    }
  }
  throw refusedError(
    'The settings keep changing on the server.',
    'version-mismatch',
    'Try again in a moment.',
  );
}

/** Where nothing is saved yet, the account's mode decides where settings are stored. */
async function locate(
  { output }: SettingsContext,
  { session, store, client }: CurrentSession,
  document: SettingsDocument,
): Promise<SettingsDocument> {
  const { encryptionMode } =
    document.file === null && !document.isSaved
      ? await client.profile()
      : { encryptionMode: 'plain' };
  if (encryptionMode === 'plain' && !document.isEncrypted) {
    return document;
  }
  const file = document.file ?? store.notificationsFile(session.server);
  output.note(
    `The settings of this account are end-to-end encrypted: the server cannot read them, and neither can this command.\nThis is stored on this computer only, in ${file}`,
  );
  return { ...document, file, isEncrypted: true };
}

async function write(
  { client }: CurrentSession,
  { file, fields, version }: SettingsDocument,
): Promise<boolean> {
  if (file === null) {
    const answer = await client.settings.write({ t: 'plain', v: fields }, version);
    return answer.success;
  }
  await makeDirectoryOf(file);
  await writePrivateFile(file, `${JSON.stringify(fields, null, 2)}\n`);
  return true;
}

/** The mode of an existing directory is the user's choice: only a new one is made private. */
async function makeDirectoryOf(file: string): Promise<void> {
  const directory = dirname(file);
  if (!(await isThere(directory))) {
    await makePrivateDirectory(directory);
  }
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function readSettingsFile(file: string): Promise<SettingsFields | null> {
  const text = await readIfExists(file);
  return text === null ? null : fieldsIn(text, file);
}

function fieldsIn(value: unknown, where: string): SettingsFields {
  try {
    const document: unknown = typeof value === 'string' ? JSON.parse(value) : value;
    if (isRecord(document)) {
      return document;
    }
  } catch {
    // Without the parser's message: it quotes the settings, secrets included.
  }
  throw refusedError(
    `The settings of ${where} are not a JSON object, so nothing is sent.`,
    'settings-unreadable',
    'Repair them, or save them again in the app.',
  );
}

function emptyForOlderServers(error: unknown): { content: null; version: number } {
  if (error instanceof GatehouseProblem && error.status === 404) {
    return { content: null, version: 0 };
  }
  throw error;
}

export type ChannelFields = Readonly<Record<string, unknown>>;

const CHANNELS = 'notificationChannelsV1';

/** The stored channels, invalid ones included, so that a change preserves them. */
function channelsOf(fields: SettingsFields): readonly unknown[] {
  const stored = fields[CHANNELS] ?? [];
  if (!Array.isArray(stored)) {
    throw refusedError(
      `${CHANNELS} in the settings is not a list.`,
      'settings-unreadable',
      'Repair the settings, or save the channels again in the app.',
    );
  }
  return stored as readonly unknown[];
}

/** @throws CliError (usage) when there is one of that id */
export function addChannel(fields: SettingsFields, channel: ChannelFields): SettingsFields {
  const channels = channelsOf(fields);
  if (channels.some((one) => isRecord(one) && one['id'] === channel['id'])) {
    throw usageError(`There is a channel ${String(channel['id'])} already.`);
  }
  return { ...fields, [CHANNELS]: [...channels, channel] };
}

/**
 * @param change returns the new channel; null = remove it
 * @throws CliError when there is none of that id
 */
export function changeChannel(
  fields: SettingsFields,
  id: string,
  change: (channel: ChannelFields) => ChannelFields | null,
): SettingsFields {
  const channels = channelsOf(fields);
  const hasId = (channel: unknown): channel is ChannelFields =>
    isRecord(channel) && channel['id'] === id;
  if (!channels.some(hasId)) {
    throw refusedError(
      `There is no channel ${id}.`,
      'not-found',
      'See them all: gatehouse channels list',
    );
  }
  const changed = channels.map((channel) => (hasId(channel) ? change(channel) : channel));
  return { ...fields, [CHANNELS]: changed.filter((channel) => channel !== null) };
}
