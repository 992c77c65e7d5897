import { resolve } from 'node:path';
import { ServerUnreachable } from '../../client/problem.js';
import { attemptRound, type Senders } from '../../notify/deliver.js';
import type { AttemptResult, Delivery, FailedAttempt } from '../../notify/delivery.js';
import type { ExpoSender } from '../../notify/expo.sender.js';
import { readPreferences, type WebhookChannel } from '../../notify/preferences.js';
import { maskedToken } from '../../notify/push-token.js';
import { RETRY_DELAYS_MS } from '../../notify/retry-schedule.js';
import type { DeliveryEntry, SpoolAccount } from '../../notify/spool-entry.js';
import { spoolDirectory } from '../../notify/spool-files.js';
import { SpoolRunner, type Progress } from '../../notify/spool-runner.js';
import { Spool } from '../../notify/spool.js';
import { PRESETS } from '../../notify/webhook-presets.js';
import type { WebhookSender } from '../../notify/webhook.sender.js';
import { CliError } from '../cli-error.js';
import type { CliContext } from '../context.js';
import { requireSession, type CurrentSession } from '../current-session.js';
import { changeChannel } from './channels-document.js';
import { notifyOptions } from './notify-options.js';
import { changeSettings, readSettings, type SettingsDocument } from './notify-settings.js';

interface KnownAccount {
  readonly current: CurrentSession;
  readonly document: SettingsDocument;
}

/** The spool with senders and settings behind it: what every command that sends works with. */
export class NotifyWork {
  readonly spool: Spool;
  readonly runner: SpoolRunner;
  /** Where each delivery stands that was tried or given up here, by id. */
  readonly progress = new Map<string, Progress>();
  private readonly senders: Senders = {
    push: { attempt: async (deliveries) => (await this.expoSender()).attempt(deliveries) },
    webhooks: { attempt: async (delivery) => (await this.webhookSender()).attempt(delivery) },
  };
  private readonly accounts = new Map<string, Promise<KnownAccount>>();
  private expo: Promise<ExpoSender> | null = null;
  private webhooks: Promise<WebhookSender> | null = null;

  constructor(private readonly context: CliContext) {
    this.spool = new Spool({ directory: spoolDirectory(context.environment), now: Date.now });
    this.runner = new SpoolRunner({
      spool: this.spool,
      senders: this.senders,
      complete: (entry) => this.complete(entry),
      schedule: { delaysMs: RETRY_DELAYS_MS, random: Math.random },
      now: Date.now,
      onProgress: (progress) => this.take(progress),
    });
  }

  /** Whose deliveries these are, as it stands in the spool. */
  accountOf({ session }: CurrentSession): SpoolAccount {
    const { settingsFile } = notifyOptions(this.context);
    const { server, accountId } = session;
    return {
      server,
      accountId,
      settingsFile: settingsFile === undefined ? null : resolve(settingsFile),
    };
  }

  /** What was read already need not be read again. */
  remember(current: CurrentSession, document: SettingsDocument): void {
    this.accounts.set(keyOf(this.accountOf(current)), Promise.resolve({ current, document }));
  }

  /** One try for each, with nothing written to the spool. */
  tryOnce(
    deliveries: readonly Delivery[],
    onResult: (delivery: Delivery, result: AttemptResult) => void,
  ): Promise<void> {
    return attemptRound(deliveries, this.senders, onResult);
  }

  /** Loaded when something is sent to a phone: its library is large. */
  expoSender(): Promise<ExpoSender> {
    const { EXPO_BASE_URL: baseUrl, EXPO_ACCESS_TOKEN: accessToken } = this.context.environment;
    this.expo ??= import('../../notify/expo.sender.js').then(
      ({ ExpoSender }) =>
        new ExpoSender({ ...(baseUrl && { baseUrl }), ...(accessToken && { accessToken }) }),
    );
    return this.expo;
  }

  /** Removes a token of which the push service says that no device has it any more. */
  async deleteToken(account: SpoolAccount, token: string, deliveryId: string): Promise<void> {
    await this.acting(deliveryId, async () => {
      const { current } = await this.account(account);
      await current.client.removePushToken(token);
      this.context.output.note(`Removed the push token ${maskedToken(token)}: no device has it.`);
    });
  }

  async close(): Promise<void> {
    await (await this.expo)?.close();
    await (await this.webhooks)?.close();
  }

  private webhookSender(): Promise<WebhookSender> {
    const denyPrivate = notifyOptions(this.context).denyPrivate === true;
    this.webhooks ??= import('../../notify/webhook.sender.js').then(
      ({ WebhookSender }) => new WebhookSender({ denyPrivate }),
    );
    return this.webhooks;
  }

  private async take(progress: Progress): Promise<void> {
    const { entry, result } = progress;
    this.progress.set(entry.id, progress);
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
    // The next round may find the server again.
    known.catch(() => this.accounts.delete(key));
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
