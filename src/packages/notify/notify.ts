import { pause } from '../client/abort.js';
import {
  attemptBatch,
  DEFAULT_SCHEDULE,
  nextAttemptAt,
  NO_ANSWER,
  type RetrySchedule,
  type Senders,
} from './delivery/attempt.js';
import { outcomeOf, targetOf, type Delivery, type Outcome } from './delivery/delivery.js';
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
  /** Default `RETRY_DELAYS_MS`; an empty list = one attempt. */
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
  const deliverBatch = async (batch: readonly Delivery[]): Promise<void> => {
    let waiting = batch;
    for (let attempts = 1; waiting.length > 0; attempts += 1) {
      const isLate = ({ expiresAt }: Delivery): boolean => expiresAt <= now();
      for (const late of waiting.filter((one) => isLate(one) && !outcomes.has(one))) {
        outcomes.set(late, expired(late));
      }
      const sent = waiting.filter((one) => !isLate(one));
      const results = await attemptBatch(sent, senders);
      const nextAt = sent.map((delivery, index) => {
        const result = results[index] ?? NO_ANSWER;
        outcomes.set(delivery, outcomeOf(delivery, result, attempts));
        return nextAttemptAt(delivery, result, attempts, now(), schedule);
      });
      waiting = sent.filter((_delivery, index) => nextAt[index] !== null);
      // The messages of one request are sent together again, when the last of them may be.
      const at = Math.max(...nextAt.map((one) => one ?? 0));
      if (waiting.length > 0 && !(await pause(at - now(), signal))) {
        return;
      }
    }
  };
  const pushes = deliveries.filter(({ kind }) => kind === 'push');
  const others = deliveries.filter(({ kind }) => kind !== 'push');
  await Promise.all([deliverBatch(pushes), ...others.map((one) => deliverBatch([one]))]);
  return deliveries.flatMap((delivery) => outcomes.get(delivery) ?? []);
}

function expired(delivery: Delivery): Outcome {
  const target = targetOf(delivery);
  return { target, deliveryId: delivery.id, state: 'suppressed', reason: 'expired' };
}
