import type {
  Delivery,
  Outcome,
  AttemptResult,
} from '../../../packages/notify/delivery/delivery.js';
import {
  DeliveryEngine,
  RETRY_DELAYS_MS,
  type Ending,
  type Progress,
} from '../../../packages/notify/delivery/engine.js';
import type { DeliveryEntry, SpoolAccount } from '../../../packages/notify/delivery/spool-entry.js';
import { keyOf, type SpoolName } from '../../../packages/notify/delivery/spool-name.js';
import {
  Spool,
  spoolDirectory,
  type SpooledDelivery,
  type SpooledEvents,
} from '../../../packages/notify/delivery/spool.js';
import { PRIVATE_HOSTS_VARIABLE, privateHostsIn } from '../../../packages/notify/environment.js';
import { LazySenders } from '../../../packages/notify/lazy-senders.js';
import { deliver } from '../../../packages/notify/notify.js';
import type { CliContext } from '../command.js';
import { CliError, EXIT } from '../cli-error.js';
import { lineOfDelivery, lineOfOutcome, type ReportLine } from './report.js';
import { receiversFile, SpoolAccounts, unreadable, type SenderOptions } from './spool-accounts.js';
import { maskedToken } from '../../../packages/notify/push/push-message.js';
import { changeChannel } from '../../../packages/notify/settings-changes.js';
import type { Output } from '../output.js';
import { announceNewReceivers } from '../receivers/new-receivers.js';
import { changeSettings } from './settings-document.js';

export type { SenderOptions };

export async function withSenderSession<Result>(
  context: CliContext<SenderOptions>,
  work: (sender: SenderSession) => Promise<Result>,
): Promise<Result> {
  if (privateHostsIn(context.environment).length > 0) {
    await readPermittedHosts(context.environment);
  }
  const sender = new SenderSession(context);
  try {
    return await work(sender);
  } finally {
    await sender.close();
  }
}

/**
 * Returns a function that is true for an address which the senders of this user refuse.
 * @throws CliError (configuration) for an entry of the variable that is no host
 */
export async function readPermittedHosts(
  environment: CliContext['environment'],
): Promise<(url: string) => boolean> {
  const { DestinationGuard } =
    await import('../../../packages/notify/webhook/destination-guard.js');
  try {
    const guard = new DestinationGuard(privateHostsIn(environment));
    return (url) => guard.refuses(new URL(url).hostname);
  } catch (error) {
    const message = `${PRIVATE_HOSTS_VARIABLE}: ${error instanceof Error ? error.message : ''}`;
    throw new CliError(message, { exitCode: EXIT.configuration, code: 'configuration' });
  }
}

/** The spool and its collaborators during one command. */
export class SenderSession {
  readonly spool: Spool;
  readonly engine: DeliveryEngine<SpooledDelivery, SpoolName>;
  readonly senders: LazySenders;
  readonly accounts: SpoolAccounts;
  readonly directives: AnswerDirectives;
  /** The latest result of each attempted or dropped delivery, by id. */
  readonly lines = new Map<string, ReportLine>();
  private readonly announcements: Promise<void>[] = [];

  constructor(private readonly context: CliContext<SenderOptions>) {
    this.spool = new Spool({ directory: spoolDirectory(context.environment), now: Date.now });
    this.senders = new LazySenders(context.environment, context.options.denyPrivate === true);
    this.accounts = new SpoolAccounts(context);
    this.directives = new AnswerDirectives(this.accounts, context.output);
    this.engine = new DeliveryEngine<SpooledDelivery, SpoolName>(this.spool, {
      senders: this.senders,
      complete: (entry) => this.accounts.renew(entry),
      schedule: { delaysMs: RETRY_DELAYS_MS, random: Math.random },
      now: Date.now,
      onProgress: (progress) => this.onProgress(progress),
    });
  }

  /** Replaces waiting events with their deliveries. */
  async planWaiting(isDueOnly: boolean): Promise<void> {
    this.accounts.clear();
    for await (const claim of this.spool.claimEvents(isDueOnly)) {
      try {
        const { planned } = await this.accounts.plan(claim.entry);
        const deliveries = planned.flatMap((plan) => plan.deliveries);
        await this.spool.replace(claim, deliveries, Date.now());
        this.announceReceivers(claim.entry.account);
      } catch (error) {
        // The settings or the login may become valid before the event expires.
        this.context.output.note(error instanceof Error ? error.message : String(error));
        await this.putBackEvents(claim, error);
      }
    }
  }

  /** Announces devices that none of the person's devices confirmed, next to the deliveries. */
  announceReceivers(name: SpoolAccount): void {
    const announce = async (): Promise<void> => {
      const file = receiversFile(this.context, name);
      const account = await this.accounts.get(name);
      await announceNewReceivers(account, file, async (deliveries) => {
        const outcomes = await this.attemptOnce(deliveries);
        return outcomes.some(({ state }) => state === 'sent');
      });
    };
    this.announcements.push(announce().catch(() => undefined));
  }

  async close(): Promise<void> {
    await Promise.all(this.announcements);
    await this.senders.close();
  }

  /** Another process plans them when the server may be reachable again. */
  putBackEvents(claim: SpooledEvents, error: unknown): Promise<void> {
    const { code, detail } = unreadable(error);
    const delayMs = Math.min(FIRST_DELAY_MS * 2 ** claim.entry.attempts, LONGEST_DELAY_MS);
    const at = Date.now();
    return this.spool.putBack(claim, at + delayMs, { code, detail, at });
  }

  /**
   * Attempts due deliveries that were already in the spool: a killed process may have left them.
   */
  async resumeKnown(ids: ReadonlySet<string>, deliveries: readonly Delivery[]): Promise<void> {
    if (ids.size === 0) {
      return;
    }
    await this.loadEndingsOf([...ids], ({ state }) => state !== 'sent');
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
    await this.engine.attemptNow(
      claims.filter((claim) => claim !== null),
      deliveries,
    );
  }

  /** Reads the results of deliveries that other processes ended. */
  async loadEndings(ids: readonly string[]): Promise<void> {
    const open = ids.filter((id) => (this.lines.get(id)?.state ?? 'waiting') === 'waiting');
    await this.loadEndingsOf(open, () => true);
  }

  /** @param ids of the deliveries to wait for; undefined = all deliveries and events */
  async drain(ids?: ReadonlySet<string>): Promise<void> {
    const beforeRound = async (): Promise<void> => {
      this.accounts.clear();
      if (ids === undefined) {
        await this.planWaiting(true);
      }
    };
    await beforeRound();
    await this.engine.round();
    await this.engine.drain({ ids, beforeRound });
  }

  /** Attempts each delivery once, without the spool. */
  attemptOnce(deliveries: readonly Delivery[]): Promise<Outcome[]> {
    const schedule = { delaysMs: [], random: Math.random };
    return deliver(deliveries, this.senders.of(), { schedule });
  }

  /** {@link attemptOnce} for a command that cannot write its spool; fills {@link lines}. */
  async sendUnspooled(deliveries: readonly Delivery[]): Promise<void> {
    for (const outcome of await this.attemptOnce(deliveries)) {
      this.lines.set(outcome.deliveryId ?? '', lineOfOutcome(outcome));
    }
  }

  private async loadEndingsOf(
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
    if (result !== null) {
      await this.directives.apply(entry, result);
    }
  }
}

const BEING_SENT = { state: 'known', code: 'in-progress' } as const;
/** Delays between requests to an unreachable server. */
const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 30_000;

/** Carries out the directives of answers; a failure is only noted, because the delivery has ended. */
class AnswerDirectives {
  constructor(
    private readonly accounts: SpoolAccounts,
    private readonly output: Output,
  ) {}

  async apply({ account, delivery, id }: DeliveryEntry, result: AttemptResult): Promise<void> {
    const { directive } = result;
    if (directive === 'delete-token' && delivery.kind !== 'webhook') {
      await this.deleteToken(account, delivery.token, { deliveryId: id, sentAt: Date.now() });
    } else if (directive === 'disable-channel' && delivery.kind === 'webhook') {
      await this.acting(id, () => this.disableChannel(account, delivery.channelId));
    }
  }

  /** Removes a token that the push service reports as unregistered. */
  async deleteToken(
    account: SpoolAccount,
    token: string,
    { deliveryId, sentAt }: { readonly deliveryId: string; readonly sentAt: number },
  ): Promise<void> {
    await this.acting(deliveryId, async () => {
      const { client } = (await this.accounts.get(account)).current;
      const saved = (await client.pushTokens()).find((one) => one.token === token);
      // The app may have registered it again since.
      if (saved !== undefined && saved.updatedAt <= sentAt) {
        await client.removePushToken(token);
        this.output.note(`Removed the push token ${maskedToken(token)}: no device has it.`);
      }
    });
  }

  private async disableChannel(account: SpoolAccount, id: string): Promise<void> {
    const { context, current } = await this.accounts.get(account);
    await changeSettings(context, current, (fields) =>
      changeChannel(fields, id, { enabled: false }),
    );
    this.output.note(`Disabled the webhook ${id}, as it requested.`);
  }

  private async acting(deliveryId: string, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.output.note(`Acting on the answer to ${deliveryId} failed: ${why}`);
    }
  }
}
