import { join, resolve } from 'node:path';
import type {
  SavedPushToken,
  StoredSettings,
} from '../../../packages/client/api/api-client-answers.js';
import { GatehouseProblem, ServerUnreachable } from '../../../packages/client/api/problem.js';
import { isRecord } from '../../../core/protocol/is-record.js';
import {
  makePrivateDirectory,
  readJsonIfExists,
  unlessUnusable,
  userDirectory,
  writePrivateFile,
} from '../../../common/private-files.js';
import type { NotificationEvent } from '../../../packages/notify/content/notification-event.js';
import type { Delivery, FailedAttempt } from '../../../packages/notify/delivery/delivery.js';
import {
  planNotification,
  renewDelivery,
  type Plan,
} from '../../../packages/notify/delivery/plan.js';
import {
  eventsEntryFor,
  type DeliveryEntry,
  type EventsEntry,
  type SpoolAccount,
} from '../spool/spool-entry.js';
import { keyOf } from '../spool/spool-name.js';
import { requestPreviewsOfBuild } from '../../../packages/notify/environment.js';
import { readPreferences, type Preferences } from '../../../packages/notify/preferences.js';
import { modeOf } from '../../../packages/client/settings/account-settings.js';
import { RECEIVERS_SETTING } from '../../../packages/client/settings/receivers.js';
import { requireSessionAt, type CurrentSession } from '../account/current-session.js';
import { settingsAccess } from '../account/settings-access.js';
import type { CliContext, OptionsOf } from '../command.js';
import { CliError, notLoggedInError } from '../cli-error.js';
import type { DENY_PRIVATE, SERVER, SETTINGS_FILE } from '../options.js';
import { formatMinute } from '../output.js';
import {
  isRefused,
  isUnreadable,
  readSettings,
  type SettingsDocument,
} from './settings-document.js';

export type SenderOptions = OptionsOf<
  readonly [typeof SERVER, typeof SETTINGS_FILE, typeof DENY_PRIVATE]
> & { readonly mask?: boolean };

export interface KnownAccount {
  readonly context: CliContext<SenderOptions>;
  readonly current: CurrentSession;
  readonly preferences: Preferences;
  readonly tokens: readonly SavedPushToken[];
}

export interface PlannedEvent extends Plan {
  readonly event: NotificationEvent;
}

/** The last answer of the server; encrypted settings stay encrypted. */
interface Snapshot {
  readonly v: 1;
  /** Unix milliseconds. */
  readonly at: number;
  /** null = they were not read, because there is a local settings file. */
  readonly settings: StoredSettings | null;
  readonly tokens: readonly SavedPushToken[];
}

const SNAPSHOT_COUNTS_FOR_MS = 24 * 3_600_000;

/** While a server is unreachable, its answers of the last 24 hours are used. */
export class SpoolAccounts {
  private readonly accounts = new Map<string, Promise<KnownAccount>>();
  private hasReported = false;

  constructor(private readonly context: CliContext<SenderOptions>) {}

  /** The entry of events that go to the account with the options of the command. */
  entryOf({ session }: CurrentSession, events: readonly NotificationEvent[]): EventsEntry {
    const { settingsFile, mask, denyPrivate } = this.context.options;
    const { server, accountId } = session;
    const file = settingsFile === undefined ? null : resolve(settingsFile);
    return eventsEntryFor({ server, accountId, settingsFile: file }, events, {
      requestPreviews: requestPreviewsOfBuild().isBuiltIn,
      maskSecrets: mask !== false,
      denyPrivate: denyPrivate === true,
    });
  }

  /** Discards all settings, so that they are read again. */
  clear(): void {
    this.accounts.clear();
  }

  /**
   * @param current the session, if the command has opened it already
   * @throws CliError, ServerUnreachable, GatehouseProblem
   */
  get(name: SpoolAccount, current?: CurrentSession): Promise<KnownAccount> {
    const key = JSON.stringify([name.server, name.accountId, name.settingsFile]);
    const account = this.accounts.get(key) ?? this.read(name, current);
    this.accounts.set(key, account);
    return account;
  }

  /** @throws the errors of {@link get} */
  async plan(
    entry: EventsEntry,
    current?: CurrentSession,
  ): Promise<{ readonly planned: readonly PlannedEvent[]; readonly preferences: Preferences }> {
    const { preferences, tokens } = await this.get(entry.account, current);
    const options = { now: Date.now(), ...entry, accountId: entry.account.accountId };
    const planned = entry.events.map((event) => ({
      event,
      ...planNotification(event, preferences, tokens, options),
    }));
    return { planned, preferences };
  }

  /** Applies the current settings: the address or a topic switch may have changed. */
  async renew({ delivery, account }: DeliveryEntry): Promise<Delivery | FailedAttempt> {
    try {
      const { preferences, tokens } = await this.get(account);
      return renewDelivery(delivery, preferences, tokens);
    } catch (error) {
      return unreadable(error);
    }
  }

  private async read(name: SpoolAccount, opened?: CurrentSession): Promise<KnownAccount> {
    const context = this.contextOf(name);
    const { server, accountId } = name;
    const current = opened ?? (await requireSessionAt(this.context, server, accountId));
    if (current.session.accountId !== accountId) {
      throw notLoggedInError(`Signed in to ${server} with another account.`, 'not-logged-in');
    }
    try {
      const [document, tokens] = await Promise.all([
        readSenderSettings(context, current),
        current.client.pushTokens(),
      ]);
      await this.save(name, document, tokens);
      return { context, current, preferences: readPreferences(document.fields), tokens };
    } catch (error) {
      const snapshot = isUnavailable(error) ? await this.load(name) : null;
      if (snapshot === null || (snapshot.settings === null && name.settingsFile === null)) {
        throw error;
      }
      const { settings, tokens } = snapshot;
      const known = settings ?? undefined;
      const { fields } = await readSenderSettings(context, current, known).catch(
        (refusal: unknown) => {
          // This computer has seen newer settings since: the events wait for the server.
          throw isRefused(refusal) ? error : refusal;
        },
      );
      this.report(error, snapshot);
      return { context, current, preferences: readPreferences(fields), tokens };
    }
  }

  private report(error: unknown, { at }: Snapshot): void {
    if (!this.hasReported) {
      const why = error instanceof Error ? error.message : '';
      this.context.output.note(`${why} The settings and tokens of ${formatMinute(at)} are used.`);
    }
    this.hasReported = true;
  }

  private async save(
    name: SpoolAccount,
    { stored }: SettingsDocument,
    tokens: readonly SavedPushToken[],
  ): Promise<void> {
    const before = stored === null ? await this.load(name) : null;
    const settings = stored ?? before?.settings ?? null;
    // A local settings file does not make older settings of the server newer.
    const at = before?.settings ? before.at : Date.now();
    const snapshot: Snapshot = { v: 1, at, settings, tokens };
    const file = snapshotFile(this.context, name);
    await makePrivateDirectory(snapshotDirectory(this.context))
      .then(() => writePrivateFile(file, JSON.stringify(snapshot), false))
      .catch(unlessUnusable);
  }

  private async load(name: SpoolAccount): Promise<Snapshot | null> {
    const value = await readJsonIfExists(snapshotFile(this.context, name));
    const isOne =
      isRecord(value) &&
      value['v'] === 1 &&
      (value['settings'] === null || isRecord(value['settings'])) &&
      Array.isArray(value['tokens']) &&
      Number(value['at']) > Date.now() - SNAPSHOT_COUNTS_FOR_MS;
    return isOne ? (value as unknown as Snapshot) : null;
  }

  private contextOf({ server, settingsFile }: SpoolAccount): CliContext<SenderOptions> {
    const account = { server, settingsFile: settingsFile ?? undefined };
    return { ...this.context, options: { ...this.context.options, ...account } };
  }
}

/**
 * Reads the settings of a sender. A local file replaces the preferences, and not the list of confirmed devices, which
 * only the sealed settings of the account have.
 *
 * @param known the last answer of a server that is unreachable now
 * @throws CliError, ServerUnreachable, GatehouseProblem
 */
async function readSenderSettings(
  context: CliContext<SenderOptions>,
  current: CurrentSession,
  known?: StoredSettings,
): Promise<SettingsDocument> {
  const document = await readSettings(context, current, false, known);
  const access = document.file === null ? null : await settingsAccess(current);
  const pin = (await access?.pins.read()) ?? null;
  const content = access?.content ?? null;
  if (content === null || modeOf(content, pin) === 'plain') {
    return document;
  }
  const withReceivers = (receivers: unknown) => ({
    ...document,
    fields: { ...document.fields, [RECEIVERS_SETTING]: receivers },
  });
  try {
    const ofAccount = { ...context, options: {} };
    const { fields, stored } = await readSettings(ofAccount, current, false, known);
    return { ...withReceivers(fields[RECEIVERS_SETTING]), stored };
  } catch (error) {
    const isUnread = isUnreadable(error) || isUnavailable(error);
    // Settings that this computer has never opened may be of another app, which has no such list.
    if (isUnread && (pin?.settings ?? null) === null) {
      return document;
    }
    if (!isUnreadable(error)) {
      throw error;
    }
    return withReceivers([]);
  }
}

/** Codes of the client for answers that no working server sends. */
const UNREADABLE = ['unexpected-answer', 'answer-too-large'];

/** Returns true if the server may answer later, so that the account may be unchanged. */
export function isUnavailable(error: unknown): boolean {
  return (
    error instanceof ServerUnreachable ||
    (error instanceof GatehouseProblem && (error.isTemporary || UNREADABLE.includes(error.code)))
  );
}

/** The failure is temporary, because the settings may become readable before the event expires. */
export function unreadable(error: unknown): FailedAttempt {
  const detail = error instanceof Error ? error.message : String(error);
  const named = error instanceof CliError ? error.facts.code : 'settings-unreadable';
  const code = error instanceof ServerUnreachable ? 'server-unreachable' : named;
  return { state: 'failed', code, detail, isTemporary: true };
}

type Environment = Pick<CliContext, 'environment'>;

function snapshotDirectory({ environment }: Environment): string {
  return join(userDirectory('state', environment), 'accounts');
}

export function snapshotFile(
  context: Environment,
  { server, accountId }: Pick<SpoolAccount, 'server' | 'accountId'>,
): string {
  return join(snapshotDirectory(context), `${keyOf(JSON.stringify([server, accountId]))}.json`);
}

/** The announcements of new push tokens, which stay after a logout. */
export function receiversFile(
  context: Environment,
  account: Pick<SpoolAccount, 'server' | 'accountId'>,
): { readonly directory: string; readonly path: string } {
  const path = snapshotFile(context, account).replace(/json$/, 'receivers.json');
  return { directory: snapshotDirectory(context), path };
}
