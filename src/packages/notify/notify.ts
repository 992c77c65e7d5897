import {
  attemptAlone,
  DeliveryEngine,
  RETRY_DELAYS_MS,
  type DeliveryEngineOptions,
  type DeliveryStore,
  type TargetQueue,
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

/** The account to notify: its settings document and its saved push tokens. */
export interface NotifiedAccount {
  /** The document, or the promise of `openSettings`: if it rejects, nothing is sent. */
  readonly settings: unknown;
  readonly tokens: readonly SavedToken[];
}

export interface DeliverOptions {
  /** Default {@link RETRY_DELAYS_MS}; an empty list = one attempt. */
  readonly schedule?: RetrySchedule;
  readonly now?: () => number;
  /** Ends the waits between attempts; a running attempt is finished. */
  readonly signal?: AbortSignal;
}

export type NotifyOptions = DeliverOptions & Omit<PlanOptions, 'now'>;

export interface Notified {
  /** One outcome for every push token and every readable channel. */
  readonly outcomes: readonly Outcome[];
  /** Problems of the settings. */
  readonly problems: readonly InputProblem[];
}

/**
 * Notifies an account's devices and webhooks of an event, and returns the outcome of each
 * (specification, Events 1 and 2). If the settings cannot be read, every outcome is
 * `settings-unreadable`; if the device has to confirm them first, `settings-refused`. Never rejects.
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
    // Compared by name, because the class may come from the other package @gatehouse/client.
    const name = error instanceof Error ? error.name : '';
    const isKnown = error instanceof Error && Object.hasOwn(SETTINGS_CODES, name);
    const detail = isKnown ? error.message : 'The settings could not be read.';
    const outcomes = outcomesWithoutSettings(tokens, detail, SETTINGS_CODES[name]);
    return { deliveries: [], outcomes, problems: [] };
  }
  const preferences = readPreferences(document, now());
  const plan = planNotification(event, preferences, tokens, { ...options, now: now() });
  return { ...plan, problems: preferences.problems };
}

const SETTINGS_CODES: Readonly<Record<string, string>> = {
  SettingsUnreadable: 'settings-unreadable',
  SettingsRefused: 'settings-refused',
};

export type ResolveOptions = NotifyOptions & {
  /**
   * `messageId` of the outcomes of {@link notify}, by `deliveryId`: these messages are replaced.
   */
  readonly messageIds?: Readonly<Record<string, string>>;
};

/**
 * Replaces the notification of a request that was answered, silently, where the target supports it
 * (push, ntfy, Discord with `messageIds`). First end the retries of its notification with the
 * `signal` of its call of {@link notify}.
 *
 * @param event the event that {@link notify} received
 */
export async function resolve(
  event: NotificationEvent,
  account: NotifiedAccount,
  senders: Senders,
  options: ResolveOptions = {},
): Promise<Notified> {
  const { now = Date.now, templates = ENGLISH, messageIds = {} } = options;
  // An expired notification is replaced as well, so the plan uses the event's time.
  const planned = await planFor(event, account, { ...options, now: () => event.createdAt });
  const deliveries = planned.deliveries.flatMap(
    (delivery) => resolutionOf(delivery, now(), templates.resolved, messageIds[delivery.id]) ?? [],
  );
  const { outcomes, problems } = planned;
  const failed = outcomes.filter(({ state }) => state === 'failed');
  return { outcomes: [...failed, ...(await deliver(deliveries, senders, options))], problems };
}

/** Sends, retries by the schedule, and returns the outcomes by position. Never rejects. */
export async function deliver(
  deliveries: readonly Delivery[],
  senders: Senders,
  { now = Date.now, signal, schedule = DEFAULT_SCHEDULE }: DeliverOptions = {},
): Promise<Outcome[]> {
  const outcomes = new Map<Delivery, Outcome>();
  const options: DeliveryEngineOptions<MemoryEntry> = {
    senders: { of: () => senders },
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
      ? engine.attemptClaims(claims)
      : Promise.all(claims.map((claim) => engine.settle(claim, first))));
    await engine.drain({ signal });
  };
  // Most deliveries succeed at once, and an engine for each would cost a quarter of the time.
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

/** Deliveries to one target, sent in one batch. Retries wait for the last of them. */
class MemoryStore implements DeliveryStore<Waiting, Waiting> {
  readonly pushBatchSize = Infinity;
  private waiting: Waiting[] = [];

  add(deliveries: readonly Delivery[]): readonly Waiting[] {
    return deliveries.map((delivery) => waitingFor({ attempts: 0, delivery }, 0));
  }

  tidy(): Promise<void> {
    return DONE;
  }

  dueByTarget(): Promise<readonly TargetQueue<Waiting>[]> {
    const items = this.waiting;
    this.waiting = [];
    const isBatched = items[0]?.entry.delivery.kind === 'push';
    return Promise.resolve([{ isBatched, items }]);
  }

  claimDelivery(item: Waiting): Promise<Waiting> {
    return Promise.resolve(item);
  }

  isResolved(): Promise<boolean> {
    return NEVER;
  }

  end(): Promise<void> {
    return DONE;
  }

  putBack({ entry }: Waiting, dueAt: number): Promise<void> {
    const attempts = entry.attempts + 1;
    this.waiting.push(waitingFor({ ...entry, attempts }, dueAt));
    return DONE;
  }

  /** Callers of the library request receipts themselves. */
  expectReceipt(): Promise<void> {
    return DONE;
  }

  nextRoundAt(): Promise<number | null> {
    const times = this.waiting.map(({ dueAt }) => dueAt);
    return Promise.resolve(times.length === 0 ? null : Math.max(...times));
  }
}

const DONE = Promise.resolve();
const NEVER = Promise.resolve(false);

function waitingFor(entry: MemoryEntry, dueAt: number): Waiting {
  return { entry, dueAt, expiresAt: entry.delivery.expiresAt };
}
