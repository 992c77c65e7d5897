import { ServerUnreachable } from '../../client/problem.js';
import { attemptRound } from '../../notify/deliver.js';
import type { AttemptResult, Delivery, FailedAttempt } from '../../notify/delivery.js';
import { readPreferences } from '../../notify/preferences.js';
import { maskedToken } from '../../notify/push-token.js';
import { renewDelivery } from '../../notify/renew-delivery.js';
import { RETRY_DELAYS_MS } from '../../notify/retry-schedule.js';
import { entryFor, type DeliveryEntry, type SpoolAccount } from '../../notify/spool-entry.js';
import { spoolDirectory } from '../../notify/spool-files.js';
import { SpoolRunner, type Progress } from '../../notify/spool-runner.js';
import { Spool } from '../../notify/spool.js';
import { CliError } from '../cli-error.js';
import type { CliContext } from '../context.js';
import type { CurrentSession } from '../current-session.js';
import { changeChannel } from './channels-document.js';
import { NotifyAccounts } from './notify-accounts.js';
import { notifyOptions } from './notify-options.js';
import { lineOfProgress, type ReportLine } from './notify-report.js';
import { NotifySenders } from './notify-senders.js';
import { changeSettings } from './notify-settings.js';

/** The spool with senders and settings behind it: what every command that sends works with. */
export class NotifyWork {
  readonly spool: Spool;
  readonly runner: SpoolRunner;
  readonly senders: NotifySenders;
  readonly accounts: NotifyAccounts;
  /** Where each delivery stands that was tried or given up here, by id. */
  readonly lines = new Map<string, ReportLine>();

  constructor(private readonly context: CliContext) {
    this.spool = new Spool({ directory: spoolDirectory(context.environment), now: Date.now });
    this.senders = new NotifySenders(context.environment);
    this.accounts = new NotifyAccounts(context);
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
    const account = this.accounts.nameOf(current);
    return deliveries.map((delivery) => entryFor(delivery, account, this.denyPrivate));
  }

  /**
   * What is known of deliveries that the spool had already: one that failed, or that waits to be tried
   * again, was not told.
   */
  async learnKnown(ids: ReadonlySet<string>): Promise<void> {
    if (ids.size === 0) {
      return;
    }
    for (const { entry, ending } of await this.spool.history.endingsOf([...ids])) {
      if (entry.kind === 'delivery' && ending.state !== 'sent') {
        this.lines.set(entry.id, lineOfProgress(progressOf(entry, ending)));
      }
    }
    for (const { entry, name } of await this.spool.entries()) {
      if (entry.kind === 'delivery' && ids.has(entry.id) && name.claim === null) {
        const { code = 'not-tried', detail } = entry.lastError ?? {};
        const waiting = { state: 'waiting', code, detail, at: name.dueAt } as const;
        this.lines.set(entry.id, lineOfProgress(progressOf(entry, waiting)));
      }
    }
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
  async deleteToken(
    account: SpoolAccount,
    token: string,
    { deliveryId, sentAt }: { readonly deliveryId: string; readonly sentAt: number },
  ): Promise<void> {
    await this.acting(deliveryId, async () => {
      const { current } = await this.accounts.get(account);
      const saved = (await current.client.pushTokens()).find((one) => one.token === token);
      // The app may have registered it again since.
      if (saved === undefined || saved.updatedAt > sentAt) {
        return;
      }
      await current.client.removePushToken(token);
      this.context.output.note(`Removed the push token ${maskedToken(token)}: no device has it.`);
    });
  }

  /** Whether this command was told to refuse private addresses. */
  private get denyPrivate(): boolean {
    return notifyOptions(this.context).denyPrivate === true;
  }

  private async take(progress: Progress): Promise<void> {
    const { entry, result } = progress;
    this.lines.set(entry.id, lineOfProgress(progress));
    const { account, delivery, id } = entry;
    if (result?.directive === 'delete-token' && delivery.kind === 'push') {
      await this.deleteToken(account, delivery.token, { deliveryId: id, sentAt: Date.now() });
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
    const { context, current } = await this.accounts.get(account);
    await changeSettings(context, current, (fields) =>
      changeChannel(fields, id, (channel) => ({ ...channel, enabled: false })),
    );
    this.context.output.note(`The webhook ${id} asked to be disabled, and is.`);
  }

  /** Reads the settings anew: an address may have been put right, or something is wanted no more. */
  private async complete({ delivery, account }: DeliveryEntry): Promise<Delivery | FailedAttempt> {
    try {
      const { document } = await this.accounts.get(account);
      const tokens = delivery.kind === 'push' ? await this.accounts.tokensOf(account) : [];
      return renewDelivery(delivery, { preferences: readPreferences(document.fields), tokens });
    } catch (error) {
      return unreadable(error);
    }
  }
}

interface Standing {
  readonly state: Progress['state'];
  readonly code: string | null;
  readonly detail?: string | undefined;
  /** When it ended, or is due. */
  readonly at: number;
}

function progressOf(entry: DeliveryEntry, { state, code, detail, at }: Standing): Progress {
  const failed = { state: 'failed', code: code ?? '', detail: detail ?? '', isTemporary: false };
  const result = state === 'sent' ? null : (failed as FailedAttempt);
  const nextAt = state === 'waiting' ? at : null;
  return { entry, attempts: entry.attempts, result, state, nextAt, code };
}

/** Whatever keeps the settings away may pass before the event stops to matter. */
function unreadable(error: unknown): FailedAttempt {
  const detail = error instanceof Error ? error.message : String(error);
  const named = error instanceof CliError ? error.facts.code : 'settings-unreadable';
  const code = error instanceof ServerUnreachable ? 'server-unreachable' : named;
  return { state: 'failed', code, detail, isTemporary: true };
}
