import { setTimeout as sleep } from 'node:timers/promises';
import { unlessUnusable } from '../../../common/private-files.js';
import type { Delivery, Ending, Outcome } from '../../../packages/notify/delivery/delivery.js';
import type { SpoolAccount } from '../spool/spool-entry.js';
import { keyOf } from '../spool/spool-name.js';
import { Spool, spoolDirectory, type SpooledEvents } from '../spool/spool.js';
import { PRIVATE_HOSTS_VARIABLE, privateHostsIn } from '../../../packages/notify/environment.js';
import { LazySenders, pushServiceOptions } from '../spool/lazy-senders.js';
import { deliver } from '../../../packages/notify/notify.js';
import type { CliContext } from '../command.js';
import { configurationError } from '../cli-error.js';
import { AnswerDirectives, DeliveryEngine } from './delivery-engine.js';
import { lineOfDelivery, lineOfOutcome, type LineResult } from './report.js';
import { receiversFile, SpoolAccounts, unreadable, type SenderOptions } from './spool-accounts.js';
import { planAnnouncement } from '../receivers/new-receivers.js';

export type { SenderOptions };

export async function withSenderSession<Result>(
  context: CliContext<SenderOptions>,
  work: (sender: SenderSession) => Promise<Result>,
): Promise<Result> {
  if (privateHostsIn(context.environment).length > 0) {
    await readPermittedHosts(context.environment);
  }
  pushServiceOptions(context.environment);
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
    throw configurationError(message, 'configuration');
  }
}

/** The spool and its collaborators during one command. */
export class SenderSession {
  readonly spool: Spool;
  readonly engine: DeliveryEngine;
  readonly senders: LazySenders;
  readonly accounts: SpoolAccounts;
  readonly directives: AnswerDirectives;
  /** The latest result of each delivery, by id. */
  readonly lines: DeliveryEngine['lines'];
  private readonly announcements: Promise<void>[] = [];

  constructor(private readonly context: CliContext<SenderOptions>) {
    this.spool = new Spool({ directory: spoolDirectory(context.environment), now: Date.now });
    this.senders = new LazySenders(context.environment, context.options.denyPrivate === true);
    this.accounts = new SpoolAccounts(context);
    this.directives = new AnswerDirectives(this.accounts, context.output);
    this.engine = new DeliveryEngine(this.spool, this.senders, this.accounts, this.directives);
    this.lines = this.engine.lines;
  }

  /** Replaces waiting events with their deliveries. @returns a result for each that still waits */
  async planWaiting(isDueOnly: boolean): Promise<readonly LineResult[]> {
    const unplanned: LineResult[] = [];
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
        unplanned.push({ state: 'waiting', code: unreadable(error).code });
      }
    }
    return unplanned;
  }

  /** Announces devices that none of the person's devices confirmed, next to the deliveries. */
  announceReceivers(name: SpoolAccount): void {
    const announce = async (): Promise<void> => {
      const file = receiversFile(this.context, name);
      const account = await this.accounts.get(name);
      const { deliveries = [], save } = (await planAnnouncement(account, file)) ?? {};
      const outcomes = await this.attemptOnce(deliveries);
      if (outcomes.some(({ state }) => state === 'sent')) {
        await save?.();
      }
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
    await this.loadWaiting(ids);
    const keys = new Set([...ids].map(keyOf));
    const due = (await this.spool.due()).filter(({ key }) => keys.has(key));
    const claims = await Promise.all(due.map((name) => this.spool.claimDelivery(name)));
    await this.engine.attemptNow(
      claims.filter((claim) => claim !== null),
      deliveries,
    );
  }

  /** Reads the results of deliveries that other processes took before this one could claim them. */
  async loadTaken(deliveries: readonly Delivery[]): Promise<void> {
    const ids = deliveries.map(({ id }) => id).filter((id) => !this.lines.has(id));
    if (ids.length === 0) {
      return;
    }
    // First, because deliveries move from the queue to the history.
    await this.loadWaiting(new Set(ids));
    await this.loadEndings(ids);
  }

  private async loadWaiting(ids: ReadonlySet<string>): Promise<void> {
    for (const { entry, name } of await this.spool.entries()) {
      if (entry.kind === 'delivery' && ids.has(entry.id)) {
        const { code = 'not-tried', detail = 'It was not tried yet.' } = entry.lastError ?? {};
        const { attempts, delivery } = entry;
        const waiting = { state: 'waiting', attempts, code, detail, nextAt: name.dueAt } as const;
        const facts = name.claim === null ? waiting : BEING_SENT;
        this.lines.set(entry.id, lineOfDelivery(delivery, facts));
      }
    }
  }

  /** Reads the results of deliveries that other processes ended. */
  async loadEndings(ids: readonly string[]): Promise<void> {
    const open = ids.filter((id) => (this.lines.get(id)?.state ?? 'waiting') === 'waiting');
    await this.loadEndingsOf(open, () => true);
  }

  /** @param ids of the deliveries to wait for; undefined = all deliveries and events */
  async drain(ids?: ReadonlySet<string>): Promise<void> {
    for (let at: number | null = 0; at !== null; at = await this.spool.nextRoundAt(ids)) {
      await sleep(Math.max(0, at - Date.now()));
      this.accounts.clear();
      if (ids === undefined) {
        await this.planWaiting(true);
      }
      await this.engine.round();
    }
  }

  /** Attempts each delivery once, without the spool. */
  attemptOnce(deliveries: readonly Delivery[]): Promise<Outcome[]> {
    const schedule = { delaysMs: [], random: Math.random };
    return deliver(deliveries, this.senders.of(), { schedule });
  }

  /** Returns the ids of sent deliveries; none if the spool cannot be read. */
  async sentEarlier(deliveries: readonly Delivery[]): Promise<ReadonlySet<string>> {
    const ids = deliveries.map(({ id }) => id);
    const ended = await this.spool.history.endingsOf(ids).catch(unlessUnusable);
    const sent = ended?.filter(({ ending }) => ending.state === 'sent') ?? [];
    return new Set(sent.map(({ entry }) => entry.id));
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
}

const BEING_SENT = { state: 'known', code: 'in-progress' } as const;
/** Delays between requests to an unreachable server. */
const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 30_000;
