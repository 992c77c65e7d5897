import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { ServerUnreachable } from '../../client/api/problem.js';
import type { Delivery, FailedAttempt, Outcome } from '../../notify/delivery/delivery.js';
import {
  DeliveryEngine,
  RETRY_DELAYS_MS,
  type Ending,
  type Progress,
  type Senders,
} from '../../notify/delivery/engine.js';
import { renewDelivery } from '../../notify/delivery/plan.js';
import { deliver } from '../../notify/notify.js';
import { changeChannel } from '../../notify/settings-changes.js';
import type { ExpoSender } from '../../notify/push/expo.sender.js';
import { genericDelivery, maskedToken } from '../../notify/push/push-message.js';
import {
  entryFor,
  type DeliveryEntry,
  type SpoolAccount,
} from '../../notify/delivery/spool-entry.js';
import { keyOf, type SpoolName } from '../../notify/delivery/spool-name.js';
import { ResolvedRequests } from '../../notify/delivery/resolved-requests.js';
import { Spool, spoolDirectory, type SpooledDelivery } from '../../notify/delivery/spool.js';
import type { WebPushSender } from '../../notify/push/web-push.sender.js';
import type { WebhookSender } from '../../notify/webhook/webhook.sender.js';
import type { CliContext } from '../command.js';
import { CliError } from '../cli-error.js';
import { EventInbox, planEvents, type PendingEvents } from './event-inbox.js';
import { lineOfDelivery, lineOfOutcome, type ReportLine } from './report.js';
import { changeSettings } from './settings-document.js';
import { SpoolAccounts, type SenderOptions } from './spool-accounts.js';

export type { SenderOptions };

/** Runs `work` with a {@link SenderSession}, and closes its connections. */
export async function withSenderSession<Result>(
  context: CliContext<SenderOptions>,
  work: (sender: SenderSession) => Promise<Result>,
): Promise<Result> {
  const sender = new SenderSession(context);
  try {
    return await work(sender);
  } finally {
    await sender.senders.close();
  }
}

/** The spool with the senders, accounts and settings of one command. */
export class SenderSession {
  readonly spool: Spool;
  readonly resolved: ResolvedRequests;
  readonly events: EventInbox;
  readonly engine: DeliveryEngine<SpooledDelivery, SpoolName>;
  readonly senders: LazySenders;
  readonly accounts: SpoolAccounts;
  /** The latest result of each delivery that this command tried or dropped, by id. */
  readonly lines = new Map<string, ReportLine>();

  constructor(private readonly context: CliContext<SenderOptions>) {
    const directory = spoolDirectory(context.environment);
    this.spool = new Spool({ directory, now: Date.now });
    this.resolved = new ResolvedRequests(join(directory, 'resolved'));
    this.events = new EventInbox(join(directory, 'events'));
    this.senders = new LazySenders(context.environment);
    this.accounts = new SpoolAccounts(context);
    this.engine = new DeliveryEngine<SpooledDelivery, SpoolName>(this.spool, {
      isResolved: (entry) => this.resolved.has(entry),
      sendersFor: ({ denyPrivate }) => this.senders.of(denyPrivate || this.denyPrivate),
      complete: (entry) => this.complete(entry),
      schedule: { delaysMs: RETRY_DELAYS_MS, random: Math.random },
      now: Date.now,
      onProgress: (progress) => this.onProgress(progress),
    });
  }

  /** The spool entries of deliveries to an account's devices and channels. */
  entriesOf(
    deliveries: readonly Delivery[],
    { account, denyPrivate }: Pick<PendingEvents, 'account' | 'denyPrivate'>,
  ): DeliveryEntry[] {
    return deliveries.map((delivery) => entryFor(delivery, account, denyPrivate));
  }

  /**
   * Puts the deliveries of events that wait for their server into the spool.
   *
   * @returns whether events are left: their server is away, and nothing is known of the account
   */
  async admitEvents(): Promise<boolean> {
    let isLeft = false;
    this.accounts.forget();
    for (const { path, pending } of await this.events.free()) {
      try {
        const planned = planEvents(pending, await this.accounts.get(pending.account));
        const deliveries = planned.flatMap((plan) => plan.deliveries);
        await this.spool.add(this.entriesOf(deliveries, pending), Date.now());
        await this.events.remove(path);
      } catch (error) {
        // Settings may become readable, and a login may return, before the event expires.
        isLeft = true;
        this.context.output.note(error instanceof Error ? error.message : String(error));
      }
    }
    return isLeft;
  }

  /**
   * Reads the state of deliveries that the spool had already, and tries those that are due: a process
   * that was killed may have left them.
   */
  async learnKnown(ids: ReadonlySet<string>, deliveries: readonly Delivery[]): Promise<void> {
    if (ids.size === 0) {
      return;
    }
    await this.learn([...ids], ({ state }) => state !== 'sent');
    for (const { entry, name } of await this.spool.entries()) {
      if (entry.kind === 'delivery' && ids.has(entry.id)) {
        const { code = 'not-tried', detail = '' } = entry.lastError ?? {};
        const { attempts, delivery } = entry;
        const waiting = { state: 'waiting', attempts, code, detail, nextAt: name.dueAt } as const;
        const facts = name.claim === null ? waiting : BEING_SENT;
        this.lines.set(entry.id, lineOfDelivery(delivery, facts));
      }
    }
    const keys = new Set([...ids].map(keyOf));
    const due = (await this.spool.due()).filter(({ key }) => keys.has(key));
    const claims = await Promise.all(due.map((name) => this.spool.claimDelivery(name)));
    await this.engine.tryNow(
      claims.filter((claim) => claim !== null),
      deliveries,
    );
  }

  /** Reads the results of those that another process ended. */
  async learnEndings(ids: readonly string[]): Promise<void> {
    const open = ids.filter((id) => (this.lines.get(id)?.state ?? 'waiting') === 'waiting');
    await this.learn(open, () => true);
  }

  /**
   * Tries what is due, here or in another process, until nothing waits any more.
   *
   * @param ids of the deliveries to wait for; without them, for all
   * @param admit called before every round
   */
  async drain(ids?: ReadonlySet<string>, admit?: () => Promise<void>): Promise<void> {
    const beforeRound = async (): Promise<void> => {
      await admit?.();
      this.accounts.forget();
    };
    await beforeRound();
    await this.engine.round();
    await this.engine.drain({ ids, beforeRound });
  }

  /** One attempt for each, with nothing written to the spool. */
  attemptOnce(deliveries: readonly Delivery[]): Promise<Outcome[]> {
    const schedule = { delaysMs: [], random: Math.random };
    return deliver(deliveries, this.senders.of(this.denyPrivate), { schedule });
  }

  /** The same for a command that cannot write its spool, with the results in {@link lines}. */
  async sendUnspooled(deliveries: readonly Delivery[]): Promise<void> {
    for (const outcome of await this.attemptOnce(deliveries)) {
      this.lines.set(outcome.deliveryId ?? '', lineOfOutcome(outcome));
    }
  }

  /** Removes a token that the push service reports as unregistered. */
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

  /** Sends an ended push again with the generic text; undefined where nothing of it is left to send. */
  async sendGeneric(deliveryId: string): Promise<ReportLine['state'] | undefined> {
    for (const { entry } of await this.spool.history.endingsOf([deliveryId])) {
      const delivery =
        entry.kind === 'delivery' && entry.delivery.kind === 'push'
          ? genericDelivery(entry.delivery)
          : null;
      if (entry.kind === 'delivery' && delivery !== null && delivery.expiresAt > Date.now()) {
        const claim = await this.spool.redeliver({ ...entry, delivery }, delivery.expiresAt);
        await this.engine.tryNow([claim]);
        return this.lines.get(deliveryId)?.state;
      }
    }
    return undefined;
  }

  private get denyPrivate(): boolean {
    return this.context.options.denyPrivate === true;
  }

  private async learn(
    ids: readonly string[],
    isWanted: (ending: Ending) => boolean,
  ): Promise<void> {
    for (const { entry, ending } of await this.spool.history.endingsOf(ids)) {
      if (entry.kind === 'delivery' && isWanted(ending)) {
        const { state, code, detail } = ending;
        const why = state === 'sent' ? undefined : (detail ?? '');
        const facts = { state, attempts: entry.attempts, code, detail: why };
        this.lines.set(entry.id, lineOfDelivery(entry.delivery, facts));
      }
    }
  }

  private async onProgress(progress: Progress<DeliveryEntry>): Promise<void> {
    const { entry, result, state, attempts, code, nextAt } = progress;
    const detail = result?.state === 'failed' ? result.detail : undefined;
    const line = lineOfDelivery(entry.delivery, { state, attempts, code, detail, nextAt });
    this.lines.set(entry.id, line);
    const { account, delivery, id } = entry;
    if (result?.directive === 'delete-token' && delivery.kind !== 'webhook') {
      await this.deleteToken(account, delivery.token, { deliveryId: id, sentAt: Date.now() });
    } else if (result?.directive === 'disable-channel' && delivery.kind === 'webhook') {
      await this.acting(id, () => this.disableChannel(account, delivery.channelId));
    }
  }

  /** Acts on an answer; a failure is noted only, because the delivery itself has ended. */
  private async acting(deliveryId: string, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.context.output.note(`Acting on the answer to ${deliveryId} failed: ${why}`);
    }
  }

  private async disableChannel(account: SpoolAccount, id: string): Promise<void> {
    const { context, current } = await this.accounts.get(account);
    await changeSettings(context, current, (fields) =>
      changeChannel(fields, id, { enabled: false }),
    );
    this.context.output.note(`Disabled the webhook ${id}, as it requested.`);
  }

  /** Applies the current settings: an address may have changed, or a topic been switched off. */
  private async complete({ delivery, account }: DeliveryEntry): Promise<Delivery | FailedAttempt> {
    try {
      return renewDelivery(delivery, await this.accounts.get(account));
    } catch (error) {
      return unreadable(error);
    }
  }
}

const BEING_SENT = { state: 'known', code: 'in-progress' } as const;

/** Temporary: the settings may become readable before the event expires. */
function unreadable(error: unknown): FailedAttempt {
  const detail = error instanceof Error ? error.message : String(error);
  const named = error instanceof CliError ? error.facts.code : 'settings-unreadable';
  const code = error instanceof ServerUnreachable ? 'server-unreachable' : named;
  return { state: 'failed', code, detail, isTemporary: true };
}

function readOnce<Key, Value>(
  known: Map<Key, Promise<Value>>,
  key: Key,
  read: () => Promise<Value>,
): Promise<Value> {
  const value = known.get(key) ?? read();
  known.set(key, value);
  return value;
}

/**
 * With the first answers V8 begins to optimize undici's parser, which is WebAssembly: 100 ms of processor time
 * for which the process cannot end, and which a command of a few requests never earns. To be called once
 * undici is loaded: V8 refuses code that was compiled with other flags.
 */
function parseWithoutOptimizing(): void {
  setFlagsFromString('--wasm-tiering-budget=1000000000');
}

/** The senders of one command; each is loaded for its first delivery. */
class LazySenders {
  private expoSender: Promise<ExpoSender> | null = null;
  /** By whether private addresses are refused: the two share no connections. */
  private readonly webPushSenders = new Map<boolean, Promise<WebPushSender>>();
  private readonly webhookSenders = new Map<boolean, Promise<WebhookSender>>();

  constructor(private readonly environment: Readonly<Record<string, string | undefined>>) {}

  of(denyPrivate: boolean): Senders {
    return {
      push: { attempt: async (deliveries) => (await this.expo()).attempt(deliveries) },
      webPush: {
        attempt: async (delivery) => (await this.webPush(denyPrivate)).attempt(delivery),
      },
      webhooks: {
        attempt: async (delivery) => (await this.webhook(denyPrivate)).attempt(delivery),
      },
    };
  }

  expo(): Promise<ExpoSender> {
    const { EXPO_BASE_URL: baseUrl, EXPO_ACCESS_TOKEN: accessToken } = this.environment;
    this.expoSender ??= import('../../notify/push/expo.sender.js').then(({ ExpoSender }) => {
      parseWithoutOptimizing();
      return new ExpoSender({ ...(baseUrl && { baseUrl }), ...(accessToken && { accessToken }) });
    });
    return this.expoSender;
  }

  async close(): Promise<void> {
    const guarded = [...this.webPushSenders.values(), ...this.webhookSenders.values()];
    const loaded = [this.expoSender, ...guarded];
    await Promise.all(loaded.map(async (sender) => (await sender)?.close()));
  }

  private webPush(denyPrivate: boolean): Promise<WebPushSender> {
    return readOnce(this.webPushSenders, denyPrivate, async () => {
      const { WebPushSender } = await import('../../notify/push/web-push.sender.js');
      parseWithoutOptimizing();
      return new WebPushSender({ denyPrivate });
    });
  }

  private webhook(denyPrivate: boolean): Promise<WebhookSender> {
    return readOnce(this.webhookSenders, denyPrivate, async () => {
      const { WebhookSender } = await import('../../notify/webhook/webhook.sender.js');
      parseWithoutOptimizing();
      return new WebhookSender({ denyPrivate });
    });
  }
}
