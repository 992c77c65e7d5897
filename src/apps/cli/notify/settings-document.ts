import { realpath, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import {
  acceptSettings as acceptStored,
  changeSettings as changeStored,
  openSettings,
  readSettings as readStored,
  SettingsConflict,
  SettingsRefused,
  SettingsUnreadable,
  type SettingsClient,
  type SettingsFields,
  type SettingsRefusal,
} from '../../../packages/client/settings/account-settings.js';
import type { StoredSettings } from '../../../packages/client/api/api-client-answers.js';
import { GatehouseProblem } from '../../../packages/client/api/problem.js';
import { ChannelRefused } from '../../../packages/notify/settings-changes.js';
import {
  changedAt,
  ifExists,
  makePrivateDirectory,
  readIfExists,
  writePrivateFile,
} from '../../../common/private-files.js';
import type { CurrentSession } from '../account/current-session.js';
import { settingsAccess } from '../account/settings-access.js';
import type { CliContext } from '../command.js';
import { CliError, refusedError, usageError } from '../cli-error.js';
import { withFileLock } from '../file-lock.js';
import { readInputFile, decodeInput } from '../input.js';

type SettingsContext = CliContext<{ readonly settingsFile?: string | undefined }>;

/** An account's notification settings and where they are stored. */
export interface SettingsDocument {
  readonly fields: SettingsFields;
  /** null = stored on the server. */
  readonly file: string | null;
  /** False where nothing was saved. */
  readonly isSaved: boolean;
  /** The server's unchanged answer; null where no request was sent. */
  readonly stored: StoredSettings | null;
}

const UNREADABLE = 'settings-unreadable';
const REFUSED = 'settings-refused';

/**
 * @param mayBeMissing true if a missing --settings-file means empty settings
 * @param known the last answer of a server that is unreachable now
 * @throws CliError `settings-unreadable`, `settings-refused`
 */
export async function readSettings(
  { options: { settingsFile } }: SettingsContext,
  current: CurrentSession,
  mayBeMissing = false,
  known?: StoredSettings,
): Promise<SettingsDocument> {
  if (settingsFile !== undefined) {
    const file = resolve(settingsFile);
    const isSaved = !mayBeMissing || (await isThere(file));
    const fields = isSaved ? await fieldsIn(decodeInput(await readInputFile(file)), file) : {};
    return { fields, file, isSaved, stored: null };
  }
  const { session } = current;
  const server = new ServerSettings(current, known);
  const access = await settingsAccess(current);
  const fields = await readStored({ settings: server }, access).catch(
    explainedFor(session.server, server),
  );
  const stored = server.last;
  if (stored.content !== null) {
    return { fields, file: null, isSaved: true, stored };
  }
  const local = await localFields(current);
  return { fields: local ?? fields, file: null, isSaved: local !== null, stored };
}

export async function changeSettings(
  context: SettingsContext,
  current: CurrentSession,
  change: (fields: SettingsFields) => SettingsFields,
): Promise<Pick<SettingsDocument, 'fields' | 'file'>> {
  const { settingsFile } = context.options;
  if (settingsFile === undefined) {
    return { fields: await changeOnServer(current, change), file: null };
  }
  const file = resolve(settingsFile);
  await makeDirectoryOf(file);
  // A link stays one, and both names have the same lock.
  const target = await ifExists(() => realpath(file), file);
  return withFileLock(target, async () => {
    const { fields: before } = await readSettings(context, current, true);
    const fields = refusing(() => change(before));
    await writePrivateFile(target, `${JSON.stringify(fields, null, 2)}\n`);
    return { fields, file };
  });
}

async function changeOnServer(
  current: CurrentSession,
  change: (fields: SettingsFields) => SettingsFields,
): Promise<SettingsFields> {
  const { session, store } = current;
  const server = new ServerSettings(current);
  const access = await settingsAccess(current);
  const fields = await changeStored({ settings: server }, access, async (before) => {
    if (server.last.content !== null) {
      return refusing(() => change(before));
    }
    if (access === null) {
      await refuseWithoutKey(current);
    }
    const local = (await localFields(current)) ?? before;
    return refusing(() => change(local));
  }).catch(explainedFor(session.server, server));
  await rm(store.notificationsFile(session.server), { force: true });
  return fields;
}

/**
 * Shows settings that are refused as older or others, and accepts them where the person confirms.
 *
 * @param confirm asks the person
 * @returns null where the person did not confirm
 */
export async function acceptSettings(
  current: CurrentSession,
  confirm: (fields: SettingsFields) => Promise<boolean>,
): Promise<SettingsFields | null> {
  const access = await settingsAccess(current);
  const server = new ServerSettings(current);
  return access === null
    ? null
    : acceptStored({ settings: server }, access, confirm).catch(
        explainedFor(current.session.server, server),
      );
}

/** The settings on the server, and the last answer that was read. */
class ServerSettings {
  last: StoredSettings = { content: null, version: 0 };

  constructor(
    private readonly current: CurrentSession,
    private readonly known?: StoredSettings,
  ) {}

  async read(): Promise<StoredSettings> {
    const { settings } = this.current.client;
    this.last =
      this.known ?? (await settings.read().catch((error: unknown) => this.emptyIfOlder(error)));
    return this.last;
  }

  /** Only an older server has no settings: a proxy that answers 404 would disable what is chosen. */
  private async emptyIfOlder(error: unknown): Promise<StoredSettings> {
    const { session, store } = this.current;
    const isMissing = error instanceof GatehouseProblem && error.status === 404;
    if (isMissing && (await store.isOlderServer(session.server))) {
      return { content: null, version: 0 };
    }
    throw error;
  }

  write: SettingsClient['settings']['write'] = (content, version) =>
    this.current.client.settings.write(content, version);
}

/** An earlier version kept the settings of end-to-end encrypted accounts in a file. */
async function localFields({ session, store }: CurrentSession): Promise<SettingsFields | null> {
  const file = store.notificationsFile(session.server);
  const local = await readIfExists(file);
  return local === null ? null : fieldsIn(local, file);
}

/** Before the first write the account's mode applies: without its key nothing may be sent. */
async function refuseWithoutKey({ client }: CurrentSession): Promise<void> {
  if ((await client.profile()).encryptionMode === 'e2ee') {
    throw refusedError(
      'The settings of this account are end-to-end encrypted, and this computer has no device key.',
      'no-device-key',
      KEY_HINT,
    );
  }
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
  return openSettings({ t: 'plain', v: text }).catch(explainedFor(where));
}

const KEY_HINT = 'Bring the key of the account here: gatehouse key restore';
const ACCEPT = 'Look at them, and accept them if you know the cause: gatehouse preferences accept';
const HINTS: Readonly<Record<SettingsRefusal, string>> = {
  plain: 'If that was chosen on another device, confirm it here: gatehouse encryption plain',
  encrypted: 'If that was chosen on another device, confirm it here: gatehouse encryption e2ee',
  missing: ACCEPT,
  older: ACCEPT,
  replaced: ACCEPT,
};

/** @returns a handler that throws CliError for errors of the settings, else the same error */
export function explainedFor(where: string, server?: ServerSettings): (error: unknown) => never {
  return (error) => {
    if (error instanceof SettingsConflict) {
      const message = 'The settings keep changing on the server.';
      throw refusedError(message, 'version-mismatch', 'Try again in a moment.');
    }
    if (!(error instanceof SettingsUnreadable)) {
      throw error;
    }
    if (error instanceof SettingsRefused) {
      const refusal = `The settings of ${where} are not used. ${error.message}`;
      throw refusedError(refusal, REFUSED, HINTS[error.reason]);
    }
    const message = `Cannot read the settings of ${where}. ${error.message}`;
    const isPlain = server === undefined || server.last.content?.t === 'plain';
    const hint = isPlain
      ? 'Repair them, or save them again in the app.'
      : `${KEY_HINT}, or name a file: --settings-file`;
    throw refusedError(message, UNREADABLE, hint);
  };
}
/** While the settings are unreadable, nothing may be sent. */
export function isUnreadable(error: unknown): error is CliError {
  return isRefused(error) || (error instanceof CliError && error.facts.code === UNREADABLE);
}

/** The person has to confirm the settings on this computer first. */
export function isRefused(error: unknown): error is CliError {
  return error instanceof CliError && error.facts.code === REFUSED;
}
