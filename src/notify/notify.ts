import {
  attemptAlone,
  DeliveryEngine,
  RETRY_DELAYS_MS,
  type DeliveryEngineOptions,
  type DeliveryStore,
  type Lane,
  type Progress,
  type RetrySchedule,
  type Senders,
} from './delivery/engine.js';
import {
  outcomeOf,
  targetOf,
  type AttemptResult,
  type Delivery,
  type Outcome,
  type WebhookDelivery,
  type WebPushDelivery,
} from './delivery/delivery.js';
import {
  outcomesWithoutSettings,
  planNotification,
  type Plan,
  type PlanOptions,
  type SavedToken,
} from './delivery/plan.js';
import { ENGLISH } from './content/content.js';
import { resolutionOf } from './delivery/resolution.js';
import type { NotificationEvent } from './content/notification-event.js';
import { readPreferences } from './preferences.js';
import type { InputProblem } from './content/read-event.js';

/** The account to notify: its settings document and the push tokens it has saved. */
export interface NotifiedAccount {
  /** The document, or what `openSettings` returns: where it rejects, nothing is sent. */
  readonly settings: unknown;
  readonly tokens: readonly SavedToken[];
}

export interface DeliverOptions {
  /** Default {@link RETRY_DELAYS_MS}; an empty list of delays means one try. */
  readonly schedule?: RetrySchedule;
  readonly now?: () => number;
  /** Ends the waits between tries; a try under way is finished. */
  readonly signal?: AbortSignal;
}

export type NotifyOptions = DeliverOptions & Omit<PlanOptions, 'now'>;

export interface Notified {
  /** One for every push token and every channel that could be read. */
  readonly outcomes: readonly Outcome[];
  /** What is broken in the settings. */
  readonly problems: readonly InputProblem[];
}

/**
 * Notifies an account's devices and webhooks of an event, and returns the outcome at each
 * (specification, Events 1 and 2). Settings that cannot be read are the outcome `settings-unreadable`
 * of each target. Never rejects.
 */
export async function notify(
  event: NotificationEvent,
  account: NotifiedAccount,
  senders: Senders,
  options: NotifyOptions = {},
): Promise<Notified> {
  const { deliveries, outcomes, problems } = await planFor(event, account, options);
  return { outcomes: [...outcomes, ...(await deliver(deliveries, senders, options))], problems };
}

async function planFor(
  event: NotificationEvent,
  { settings, tokens }: NotifiedAccount,
  options: NotifyOptions,
): Promise<Plan & Pick<Notified, 'problems'>> {
  const { now = Date.now } = options;
  let document: unknown;
  try {
    document = await settings;
  } catch (error) {
    // By name: it may be the class of @gatehouse/client, which is another package.
    const isKnown = error instanceof Error && error.name === 'SettingsUnreadable';
    const known = isKnown ? error.message : null;
    const detail = known ?? 'The settings could not be read.';
    return { deliveries: [], outcomes: outcomesWithoutSettings(tokens, detail), problems: [] };
  }
  const preferences = readPreferences(document, now());
  const plan = planNotification(event, preferences, tokens, { ...options, now: now() });
  return { ...plan, problems: preferences.problems };
}

export type ResolveOptions = NotifyOptions & {
  /** `messageId` of the outcomes of {@link notify}, by `deliveryId`: those messages are replaced. */
  readonly messageIds?: Readonly<Record<string, string>>;
};

/**
 * Replaces what devices and channels show of a request that was answered, silently, where they can
 * (a push, ntfy, Discord with `messageIds`). First end the retries of its notification: `signal` of the call of {@link notify}.
 *
 * @param event the one that {@link notify} was given
 */
export async function resolve(
  event: NotificationEvent,
  account: NotifiedAccount,
  senders: Senders,
  options: ResolveOptions = {},
): Promise<Notified> {
  const { now = Date.now, templates = ENGLISH, messageIds = {} } = options;
  // As when it was sent: what is shown is replaced, also when its event no longer matters.
  const planned = await planFor(event, account, { ...options, now: () => event.createdAt });
  const deliveries = planned.deliveries.flatMap(
    (delivery) => resolutionOf(delivery, now(), templates.resolved, messageIds[delivery.id]) ?? [],
  );
  const { outcomes, problems } = planned;
  const failed = outcomes.filter(({ state }) => state === 'failed');
  return { outcomes: [...failed, ...(await deliver(deliveries, senders, options))], problems };
}

/** Sends, retries by the schedule, and returns the outcome of each, by position. Never rejects. */
export async function deliver(
  deliveries: readonly Delivery[],
  senders: Senders,
  { now = Date.now, signal, schedule = DEFAULT_SCHEDULE }: DeliverOptions = {},
): Promise<Outcome[]> {
  const outcomes = new Map<Delivery, Outcome>();
  const options: DeliveryEngineOptions<MemoryEntry> = {
    sendersFor: () => senders,
    complete: ({ delivery }) => delivery,
    schedule,
    now,
    onProgress: (progress) => record(outcomes, progress),
  };
  const deliverTo = async (target: readonly Delivery[], first?: AttemptResult): Promise<void> => {
    const store = new MemoryStore();
    const engine = new DeliveryEngine(store, options);
    const claims = store.add(target);
    await (first === undefined
      ? engine.tryBatch(claims)
      : Promise.all(claims.map((claim) => engine.settle(claim, first))));
    await engine.drain({ signal });
  };
  // Most arrive at the first try: an engine for each would cost a quarter of what sending it does.
  const deliverAlone = async (delivery: WebhookDelivery | WebPushDelivery): Promise<void> => {
    const isLate = delivery.expiresAt <= now();
    const result = isLate ? undefined : await attemptAlone(delivery, senders);
    if (result?.state === 'sent') {
      outcomes.set(delivery, outcomeOf(delivery, result, 1));
    } else {
      await deliverTo([delivery], result);
    }
  };
  const pushes = deliveries.filter(({ kind }) => kind === 'push');
  const others = deliveries.filter((delivery) => delivery.kind !== 'push');
  await Promise.all([deliverTo(pushes), ...others.map(deliverAlone)]);
  return deliveries.flatMap((delivery) => outcomes.get(delivery) ?? []);
}

const DEFAULT_SCHEDULE: RetrySchedule = { delaysMs: RETRY_DELAYS_MS, random: Math.random };

/** A delivery that expired between two tries keeps the outcome of the first. */
function record(
  outcomes: Map<Delivery, Outcome>,
  { entry: { delivery }, attempts, result }: Progress<MemoryEntry>,
): void {
  if (result !== null) {
    outcomes.set(delivery, outcomeOf(delivery, result, attempts));
  } else if (!outcomes.has(delivery)) {
    const target = targetOf(delivery);
    outcomes.set(delivery, {
      target,
      deliveryId: delivery.id,
      state: 'suppressed',
      reason: 'expired',
    });
  }
}

interface MemoryEntry {
  readonly attempts: number;
  readonly delivery: Delivery;
}

interface Waiting {
  readonly entry: MemoryEntry;
  readonly expiresAt: number;
  readonly dueAt: number;
}

/**
 * Deliveries to one target for as long as this process runs. They go in one batch; those that may
 * still arrive go again together, when the last of them is due.
 */
class MemoryStore implements DeliveryStore<Waiting, Waiting> {
  readonly pushBatchSize = Infinity;
  private waiting: Waiting[] = [];

  /** Claims deliveries for their first try. */
  add(deliveries: readonly Delivery[]): readonly Waiting[] {
    return deliveries.map((delivery) => waitingFor({ attempts: 0, delivery }, 0));
  }

  tidy(): Promise<void> {
    return DONE;
  }

  dueLanes(): Promise<readonly Lane<Waiting>[]> {
    const items = this.waiting;
    this.waiting = [];
    const isBatched = items[0]?.entry.delivery.kind === 'push';
    return Promise.resolve([{ isBatched, items }]);
  }

  claimDelivery(item: Waiting): Promise<Waiting> {
    return Promise.resolve(item);
  }

  end(): Promise<void> {
    return DONE;
  }

  putBack({ entry }: Waiting, dueAt: number): Promise<void> {
    const attempts = entry.attempts + 1;
    this.waiting.push(waitingFor({ ...entry, attempts }, dueAt));
    return DONE;
  }

  /** A caller of the library asks for receipts by itself. */
  expectReceipt(): Promise<void> {
    return DONE;
  }

  nextRoundAt(): Promise<number | null> {
    const times = this.waiting.map(({ dueAt }) => dueAt);
    return Promise.resolve(times.length === 0 ? null : Math.max(...times));
  }
}

const DONE = Promise.resolve();

function waitingFor(entry: MemoryEntry, dueAt: number): Waiting {
  return { entry, dueAt, expiresAt: entry.delivery.expiresAt };
}
