import { deliver, type DeliverOptions, type Senders } from './deliver.js';
import type { Outcome } from './delivery.js';
import type { NotificationEvent } from './notification-event.js';
import { planNotification, type PlanOptions, type SavedToken } from './plan.js';
import { readPreferences } from './preferences.js';
import type { InputProblem } from './read-event.js';

/** Whom to tell: the account's settings document and the push tokens it has saved. */
export interface NotifiedAccount {
  readonly settings: unknown;
  readonly tokens: readonly SavedToken[];
}

export type NotifyOptions = DeliverOptions & Omit<PlanOptions, 'now'>;

export interface Notified {
  /** One for every push token and every channel that could be read. */
  readonly outcomes: readonly Outcome[];
  /** What is broken in the settings. */
  readonly problems: readonly InputProblem[];
}

/**
 * Tells an account's devices and webhooks of an event, and says what became of it at each (specification,
 * Events 1 and 2). Never rejects.
 */
export async function notify(
  event: NotificationEvent,
  { settings, tokens }: NotifiedAccount,
  senders: Senders,
  options: NotifyOptions = {},
): Promise<Notified> {
  const { now = Date.now } = options;
  const preferences = readPreferences(settings);
  const plan = planNotification(event, preferences, tokens, { ...options, now: now() });
  const sent = await deliver(plan.deliveries, senders, options);
  return { outcomes: [...plan.outcomes, ...sent], problems: preferences.problems };
}
