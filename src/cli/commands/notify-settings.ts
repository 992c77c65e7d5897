import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { GatehouseProblem, isRecord } from '../../client/problem.js';
import { CliError } from '../cli-error.js';
import type { CliContext } from '../context.js';
import type { CurrentSession } from '../current-session.js';
import { EXIT } from '../exit-codes.js';
import { readGivenFile } from '../given-file.js';
import { makePrivateDirectory, readIfExists, writePrivateFile } from '../private-files.js';
import { notifyOptions } from './notify-options.js';

export type SettingsFields = Readonly<Record<string, unknown>>;

/** Where an account's notification settings were read, and are written again. */
export interface SettingsDocument {
  /** Everything in it, also what these commands know nothing about. */
  readonly fields: SettingsFields;
  /** The file it is in; null = the server has it. */
  readonly file: string | null;
  /** Of the server's copy; 0 where nobody ever wrote one. */
  readonly version: number;
  /** Whether the account's own settings are encrypted, so that only its apps can read them. */
  readonly isEncrypted: boolean;
  /** False where nobody saved anything. */
  readonly isSaved: boolean;
}

/**
 * Nobody knows here what the person chose in the app: so nothing of a request is shown, which they
 * may have wanted to hide.
 */
const UNKNOWN_CHOICE: SettingsFields = {
  notificationsSettingsV1: { v: 1, requestPreviews: false },
};
const MOST_WRITES = 5;

/**
 * The settings document of the session's account: --settings-file, else the server's copy, else (the
 * server cannot read an encrypted one) this user's file for that server.
 *
 * @param mayBeMissing whether a named file that is not there is one without settings
 */
export async function readSettings(
  context: CliContext,
  { session, store, client }: CurrentSession,
  mayBeMissing = false,
): Promise<SettingsDocument> {
  const { settingsFile } = notifyOptions(context);
  if (settingsFile !== undefined) {
    const file = resolve(settingsFile);
    const isSaved = !mayBeMissing || (await isThere(file));
    const fields = isSaved ? fieldsIn((await readGivenFile(file)).toString('utf8'), file) : null;
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
    const fields = local ?? UNKNOWN_CHOICE;
    return { fields, file, version, isEncrypted, isSaved: local !== null };
  }
  return { fields: {}, file: null, version, isEncrypted, isSaved: false };
}

/** Changes the document where it is kept, again where somebody else was faster. */
export async function changeSettings(
  context: CliContext,
  current: CurrentSession,
  change: (fields: SettingsFields) => SettingsFields,
): Promise<SettingsDocument> {
  for (let tries = 0; tries < MOST_WRITES; tries += 1) {
    const read = await readSettings(context, current, true);
    const document = await placed(context, current, read);
    const written = { ...document, fields: change(document.fields), isSaved: true };
    if (await write(current, written)) {
      return written;
    }
  }
  throw new CliError('The settings keep changing on the server.', {
    exitCode: EXIT.refused,
    code: 'version-mismatch',
    hint: 'Try again in a moment.',
  });
}

/** Where nothing is saved yet, the account's mode decides where it is going to be. */
async function placed(
  { output }: CliContext,
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
    `The settings of this account are end-to-end encrypted: the server cannot read them, and neither can this command.\nThis is kept on this computer alone, in ${file}`,
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

/** A directory that was there before is its owner's business: only a new one is made private. */
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
    // The parser's own words quote the settings, secrets included.
  }
  throw new CliError(`The settings of ${where} are not a JSON object, so nothing is sent.`, {
    exitCode: EXIT.refused,
    code: 'settings-unreadable',
    hint: 'Repair them, or save them anew in the app.',
  });
}

function emptyForOlderServers(error: unknown): { content: null; version: number } {
  if (error instanceof GatehouseProblem && error.status === 404) {
    return { content: null, version: 0 };
  }
  throw error;
}
