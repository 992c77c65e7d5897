import { resolve } from 'node:path';
import { ServerUnreachable } from '../../client/problem.js';
import { attemptRound } from '../../notify/deliver.js';
import type { AttemptResult, Delivery, FailedAttempt } from '../../notify/delivery.js';
import { readPreferences, type WebhookChannel } from '../../notify/preferences.js';
import { maskedToken } from '../../notify/push-token.js';
import { RETRY_DELAYS_MS } from '../../notify/retry-schedule.js';
import { entryFor, type DeliveryEntry, type SpoolAccount } from '../../notify/spool-entry.js';
import { spoolDirectory } from '../../notify/spool-files.js';
import type { Ending } from '../../notify/spool-history.js';
import { SpoolRunner, type Progress } from '../../notify/spool-runner.js';
import { Spool } from '../../notify/spool.js';
import { PRESETS } from '../../notify/webhook-presets.js';
import { CliError } from '../cli-error.js';
import type { CliContext } from '../context.js';
import { requireSession, type CurrentSession } from '../current-session.js';
import { changeChannel } from './channels-document.js';
import { notifyOptions } from './notify-options.js';
import { lineOfProgress, type ReportLine } from './notify-report.js';
import { NotifySenders } from './notify-senders.js';
import { changeSettings, readSettings, type SettingsDocument } from './notify-settings.js';

interface KnownAccount {
  readonly current: CurrentSession;
  readonly document: SettingsDocument;
}

/** The spool with senders and settings behind it: what every command that sends works with. */
export class NotifyWork {
  readonly spool: Spool;
  readonly runner: SpoolRunner;
  readonly senders: NotifySenders;
  /** Where each delivery stands that was tried or given up here, by id. */
  readonly lines = new Map<string, ReportLine>();
  private readonly accounts = new Map<string, Promise<KnownAccount>>();

  constructor(private readonly context: CliContext) {
    this.spool = new Spool({ directory: spoolDirectory(context.environment), now: Date.now });
    this.senders = new NotifySenders(context.environment);
    this.runner = new SpoolRunner({
      spool: this.spool,
      sendersFor: ({ denyPrivate }) => this.senders.of(denyPrivate || this.denyPrivate),
      complete: (entry) => this.complete(entry),
      schedule: { delaysMs: RETRY_DELAYS_MS, random: Math.random },
      now: Date.now,
      onProgress: (progress) => this.take(progress),
    });
  }

  /** What is written to the spool of deliveries to this account's devices and channels. */
  entriesOf(deliveries: readonly Delivery[], current: CurrentSession): DeliveryEntry[] {
    const account = this.accountOf(current);
    return deliveries.map((delivery) => entryFor(delivery, account, this.denyPrivate));
  }

  /** What was read already need not be read again. */
  remember(current: CurrentSession, document: SettingsDocument): void {
    this.accounts.set(keyOf(this.accountOf(current)), Promise.resolve({ current, document }));
  }

  /** Settings are read anew from now on: a channel may have been put right, or be wanted no more. */
  forgetSettings(): void {
    this.accounts.clear();
  }

  /** What another process made of those that did not end here. */
  async learnEndings(ids: readonly string[]): Promise<void> {
    const open = ids.filter((id) => (this.lines.get(id)?.state ?? 'waiting') === 'waiting');
    for (const { entry, ending } of await this.spool.history.endingsOf(open)) {
      if (entry.kind === 'delivery') {
        this.lines.set(entry.id, lineOfProgress(progressOf(entry, ending)));
      }
    }
  }

  /** One try for each, with nothing written to the spool. */
  tryOnce(
    deliveries: readonly Delivery[],
    onResult: (delivery: Delivery, result: AttemptResult) => void,
  ): Promise<void> {
    return attemptRound(deliveries, this.senders.of(this.denyPrivate), onResult);
  }

  /** Removes a token of which the push service says that no device has it any more. */
  async deleteToken(account: SpoolAccount, token: string, deliveryId: string): Promise<void> {
    await this.acting(deliveryId, async () => {
      const { current } = await this.account(account);
      await current.client.removePushToken(token);
      this.context.output.note(`Removed the push token ${maskedToken(token)}: no device has it.`);
    });
  }

  /** Whether this command was told to refuse private addresses. */
  private get denyPrivate(): boolean {
    return notifyOptions(this.context).denyPrivate === true;
  }

  /** Whose deliveries these are, as it stands in the spool. */
  private accountOf({ session }: CurrentSession): SpoolAccount {
    const { settingsFile } = notifyOptions(this.context);
    const { server, accountId } = session;
    return {
      server,
      accountId,
      settingsFile: settingsFile === undefined ? null : resolve(settingsFile),
    };
  }

  private async take(progress: Progress): Promise<void> {
    const { entry, result } = progress;
    this.lines.set(entry.id, lineOfProgress(progress));
    const { account, delivery, id } = entry;
    if (result?.directive === 'delete-token' && delivery.kind === 'push') {
      await this.deleteToken(account, delivery.token, id);
    } else if (result?.directive === 'disable-channel' && delivery.kind === 'webhook') {
      await this.acting(id, () => this.disableChannel(account, delivery.channelId));
    }
  }

  /** The delivery itself is done: what its answer asks for must not undo that. */
  private async acting(deliveryId: string, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      this.context.output.note(`The answer to ${deliveryId} could not be acted upon: ${words}`);
    }
  }

  private async disableChannel(account: SpoolAccount, id: string): Promise<void> {
    const { current } = await this.account(account);
    await changeSettings(this.contextOf(account), current, (fields) =>
      changeChannel(fields, id, (channel) => ({ ...channel, enabled: false })),
    );
    this.context.output.note(`The webhook ${id} asked to be disabled, and is.`);
  }

  /** Reads the channel anew: its address may have been put right, or it is wanted no more. */
  private async complete(entry: DeliveryEntry): Promise<Delivery | FailedAttempt> {
    const { delivery } = entry;
    if (delivery.kind === 'push') {
      return delivery;
    }
    try {
      const { document } = await this.account(entry.account);
      const { channels } = readPreferences(document.fields);
      const channel = channels.find(({ id }) => id === delivery.channelId);
      return channel?.enabled === true ? { ...delivery, ...targetOf(channel) } : UNWANTED;
    } catch (error) {
      return unreadable(error);
    }
  }

  private account(account: SpoolAccount): Promise<KnownAccount> {
    const key = keyOf(account);
    const known = this.accounts.get(key) ?? this.read(account);
    this.accounts.set(key, known);
    return known;
  }

  private async read(account: SpoolAccount): Promise<KnownAccount> {
    const context = this.contextOf(account);
    const current = await requireSession(context);
    if (current.session.accountId !== account.accountId) {
      throw new CliError(`Logged in to ${account.server} with another account.`, OTHER_ACCOUNT);
    }
    return { current, document: await readSettings(context, current) };
  }

  private contextOf({ server, settingsFile }: SpoolAccount): CliContext {
    const options = { ...notifyOptions(this.context), settingsFile: settingsFile ?? undefined };
    return { ...this.context, options: { ...options, server } };
  }
}

const OTHER_ACCOUNT = { exitCode: 3, code: 'not-logged-in' } as const;

const UNWANTED: FailedAttempt = {
  state: 'failed',
  code: 'channel-gone',
  detail: 'The channel was removed or disabled in the meantime.',
  isTemporary: false,
};

function progressOf(entry: DeliveryEntry, { state, code, detail }: Ending): Progress {
  const failed = { state: 'failed', code: code ?? '', detail: detail ?? '', isTemporary: false };
  const result = state === 'sent' ? null : (failed as FailedAttempt);
  return { entry, attempts: entry.attempts, result, state, nextAt: null, code };
}

function targetOf({ preset, url, secrets }: WebhookChannel) {
  return { url: PRESETS[preset].url(url), secrets };
}

/** Whatever keeps the settings away may pass before the event stops to matter. */
function unreadable(error: unknown): FailedAttempt {
  const detail = error instanceof Error ? error.message : String(error);
  const named = error instanceof CliError ? error.facts.code : 'settings-unreadable';
  const code = error instanceof ServerUnreachable ? 'server-unreachable' : named;
  return { state: 'failed', code, detail, isTemporary: true };
}

function keyOf({ server, accountId, settingsFile }: SpoolAccount): string {
  return JSON.stringify([server, accountId, settingsFile]);
}
