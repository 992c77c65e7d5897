import { rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { StoredSettings } from '../../client/api/api-client-answers.js';
import { GatehouseProblem } from '../../client/api/problem.js';
import type { AccountContent } from '../../client/crypto/account-content.js';
import { ChannelRefused } from '../../notify/settings-changes.js';
import {
  openSettings,
  SettingsUnreadable,
  type SettingsContent,
  type SettingsFields,
} from '../../client/api/account-settings.js';
import type { CurrentSession } from '../account/current-session.js';
import type { CliContext } from '../command.js';
import { CliError, refusedError, usageError } from '../cli-error.js';
import { readInputFile, textOf } from '../input.js';
import { hasEnded, ownerOfThisProcess } from '../../notify/delivery/spool-name.js';
import {
  changedAt,
  createPrivateFile,
  makePrivateDirectory,
  readIfExists,
  writePrivateFile,
} from '../../common/private-files.js';
import type { Content } from '../../protocol/content.js';

export type SettingsContext = CliContext<{ readonly settingsFile?: string | undefined }>;

/** An account's notification settings and where they are stored. */
export interface SettingsDocument {
  readonly fields: SettingsFields;
  /** null = stored on the server. */
  readonly file: string | null;
  /** The version of the server's copy; 0 = never written. */
  readonly version: number;
  /** True if the server's copy is end-to-end encrypted; null before the first write. */
  readonly isEncrypted: boolean | null;
  /** False where nothing was saved. */
  readonly isSaved: boolean;
  /** The server's unchanged answer; null where no request was sent. */
  readonly stored: StoredSettings | null;
}

const MAX_WRITES = 5;
/** Far longer than a change takes. Older locks belong to ended processes of other machines. */
const LOCKED_MS = 30_000;
const LOCK_TRIED_EVERY_MS = 20;
const UNREADABLE = 'settings-unreadable';

/**
 * @param mayBeMissing true if a missing --settings-file means empty settings
 * @param known the last answer of a server that is unreachable now
 * @throws CliError `settings-unreadable`
 */
export async function readSettings(
  { options: { settingsFile } }: SettingsContext,
  current: CurrentSession,
  mayBeMissing = false,
  known?: StoredSettings,
): Promise<SettingsDocument> {
  const { session, store, client } = current;
  if (settingsFile !== undefined) {
    const file = resolve(settingsFile);
    const isSaved = !mayBeMissing || (await isThere(file));
    const fields = isSaved ? await fieldsIn(textOf(await readInputFile(file)), file) : {};
    return { fields, file, version: 0, isEncrypted: false, isSaved, stored: null };
  }
  const stored = known ?? (await client.settings.read().catch(emptyForOlderServers));
  const { content, version } = stored;
  if (content !== null) {
    const isEncrypted = content.t === 'encrypted';
    const account = isEncrypted ? await accountContent(current) : null;
    const fields = await open(content, account ?? undefined, session.server);
    return { fields, file: null, version, isEncrypted, isSaved: true, stored };
  }
  const file = store.notificationsFile(session.server);
  const local = await readIfExists(file);
  const fields = local === null ? {} : await fieldsIn(local, file);
  return { fields, file: null, version, isEncrypted: null, isSaved: local !== null, stored };
}

export async function changeSettings(
  context: SettingsContext,
  current: CurrentSession,
  change: (fields: SettingsFields) => SettingsFields,
): Promise<SettingsDocument> {
  const { settingsFile } = context.options;
  return settingsFile === undefined
    ? changeOnce(context, current, change)
    : withLock(resolve(settingsFile), () => changeOnce(context, current, change));
}

async function changeOnce(
  context: SettingsContext,
  current: CurrentSession,
  change: (fields: SettingsFields) => SettingsFields,
): Promise<SettingsDocument> {
  for (let tries = 0; tries < MAX_WRITES; tries += 1) {
    const document = await readSettings(context, current, true);
    const isEncrypted = document.isEncrypted ?? (await isEndToEndEncrypted(current));
    const fields = refusing(() => change(document.fields));
    const written = { ...document, isEncrypted, fields, isSaved: true };
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

/** @throws CliError where the change is refused */
export function refusing<Result>(act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    throw error instanceof ChannelRefused ? explained(error) : error;
  }
}

function explained({ reason, message }: ChannelRefused): CliError {
  switch (reason) {
    case 'not-found':
      return refusedError(message, reason, 'See them all: gatehouse channels list');
    case 'not-a-list': {
      const hint = 'Repair the settings, or save the channels again in the app.';
      return refusedError(message, UNREADABLE, hint);
    }
    case 'exists':
    case 'invalid':
      return usageError(message);
  }
}

/** Without the lock, one of two simultaneous changes would be lost. */
async function withLock<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  const lock = `${file}.lock`;
  await makeDirectoryOf(file);
  while (!(await createPrivateFile(lock, ownerOfThisProcess()))) {
    const owner = await readIfExists(lock);
    if (owner !== null && (hasEnded(owner) || (await changedAt(lock)) < Date.now() - LOCKED_MS)) {
      await rm(lock, { force: true });
    } else {
      await wait(LOCK_TRIED_EVERY_MS);
    }
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

/** The account's mode applies before the first write. */
async function isEndToEndEncrypted({ client }: CurrentSession): Promise<boolean> {
  return (await client.profile()).encryptionMode === 'e2ee';
}

async function write(
  current: CurrentSession,
  { file, fields, version, isEncrypted }: SettingsDocument,
): Promise<boolean> {
  if (file !== null) {
    await makeDirectoryOf(file);
    await writePrivateFile(file, `${JSON.stringify(fields, null, 2)}\n`);
    return true;
  }
  const { session, store, client } = current;
  const content =
    isEncrypted === true ? await sealed(current, fields) : ({ t: 'plain', v: fields } as const);
  const { success } = await client.settings.write(content, version);
  if (success) {
    await rm(store.notificationsFile(session.server), { force: true });
  }
  return success;
}

async function sealed(current: CurrentSession, fields: SettingsFields): Promise<Content> {
  const account = await accountContent(current);
  if (account === null) {
    throw refusedError(
      'The settings of this account are end-to-end encrypted, and this computer has no device key.',
      'no-device-key',
      'Bring the key of the account here: gatehouse key restore',
    );
  }
  return { t: 'encrypted', c: account.seal('settings', fields) };
}

async function accountContent({ session, store }: CurrentSession): Promise<AccountContent | null> {
  const secret = await store.accountSecret(session.server);
  if (secret === null) {
    return null;
  }
  const { AccountContent } = await import('../../client/crypto/account-content.js');
  return new AccountContent(secret, session.accountId);
}

/** Only a new directory is made private; the user chose the mode of an existing one. */
async function makeDirectoryOf(file: string): Promise<void> {
  const directory = dirname(file);
  if (!(await isThere(directory))) {
    await makePrivateDirectory(directory);
  }
}

async function isThere(path: string): Promise<boolean> {
  return (await changedAt(path)) !== Infinity;
}

function fieldsIn(text: string, where: string): Promise<SettingsFields> {
  return open({ t: 'plain', v: text }, undefined, where);
}

async function open(
  content: SettingsContent,
  key: AccountContent | undefined,
  where: string,
): Promise<SettingsFields> {
  try {
    return await openSettings(content, key);
  } catch (error) {
    if (!(error instanceof SettingsUnreadable)) {
      throw error;
    }
    const hint =
      content?.t === 'encrypted'
        ? 'Bring the key of the account here (gatehouse key restore), or name a file: --settings-file'
        : 'Repair them, or save them again in the app.';
    const message = `Cannot read the settings of ${where}. ${error.message}`;
    throw refusedError(message, UNREADABLE, hint);
  }
}

/** While the settings are unreadable, nothing may be sent. */
export function isUnreadable(error: unknown): error is CliError {
  return error instanceof CliError && error.facts.code === UNREADABLE;
}

function emptyForOlderServers(error: unknown): { content: null; version: number } {
  if (error instanceof GatehouseProblem && error.status === 404) {
    return { content: null, version: 0 };
  }
  throw error;
}
