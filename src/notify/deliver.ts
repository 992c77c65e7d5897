import { setTimeout as wait } from 'node:timers/promises';
import {
  targetOf,
  type AttemptResult,
  type Delivery,
  type Outcome,
  type PushDelivery,
  type WebhookDelivery,
} from './delivery.js';
import { nextAttemptAt, RETRY_DELAYS_MS, type RetrySchedule } from './retry-schedule.js';

/** `ExpoSender` and `WebhookSender`, or anything that does as they do. Neither may reject. */
export interface Senders {
  readonly push: {
    readonly attempt: (deliveries: readonly PushDelivery[]) => Promise<AttemptResult[]>;
  };
  readonly webhooks: {
    readonly attempt: (delivery: WebhookDelivery) => Promise<AttemptResult>;
  };
}

export interface DeliverOptions {
  /** Default {@link RETRY_DELAYS_MS}; an empty list of delays means one try. */
  readonly schedule?: RetrySchedule;
  readonly now?: () => number;
  /** Ends the waits between tries; a try under way is finished. */
  readonly signal?: AbortSignal;
}

type OnResult = (delivery: Delivery, result: AttemptResult) => void;

interface Retrying {
  readonly schedule: RetrySchedule;
  readonly now: () => number;
  readonly signal: AbortSignal | undefined;
  readonly settle: (delivery: Delivery, outcome: Outcome) => void;
}

const isPush = (delivery: Delivery): delivery is PushDelivery => delivery.kind === 'push';
const isWebhook = (delivery: Delivery): delivery is WebhookDelivery => delivery.kind === 'webhook';

/**
 * One try for each delivery, all at once: the push as one batch, each webhook by itself. `onResult`
 * hears of each as soon as it is known: a dead webhook holds up nobody else's.
 */
export async function attemptRound(
  deliveries: readonly Delivery[],
  { push, webhooks }: Senders,
  onResult: OnResult,
): Promise<void> {
  await Promise.all([
    tryPushes(deliveries.filter(isPush), push, onResult),
    ...deliveries
      .filter(isWebhook)
      .map(async (delivery) => onResult(delivery, await webhooks.attempt(delivery))),
  ]);
}

/** Sends, retries as the schedule has it, and says what became of each, by position. Never rejects. */
export async function deliver(
  deliveries: readonly Delivery[],
  { push, webhooks }: Senders,
  options: DeliverOptions = {},
): Promise<Outcome[]> {
  const { now = Date.now, signal } = options;
  const { schedule = { delaysMs: RETRY_DELAYS_MS, random: Math.random } } = options;
  const outcomes = new Map<Delivery, Outcome>();
  const settle = (delivery: Delivery, outcome: Outcome) => void outcomes.set(delivery, outcome);
  const retrying = { schedule, now, signal, settle };
  const timely = deliveries.filter((delivery) => isTimely(delivery, retrying));
  await Promise.all([
    deliverPushes(timely.filter(isPush), push, retrying),
    ...timely.filter(isWebhook).map((delivery) => deliverWebhook(delivery, webhooks, retrying)),
  ]);
  return deliveries.flatMap((delivery) => outcomes.get(delivery) ?? []);
}

async function deliverWebhook(
  delivery: WebhookDelivery,
  webhooks: Senders['webhooks'],
  { schedule, now, signal, settle }: Retrying,
): Promise<void> {
  for (let attempts = 1; ; attempts += 1) {
    const result = await webhooks.attempt(delivery);
    const at = nextAttemptAt(delivery, result, attempts, now(), schedule);
    if (at === null || !(await passed(at - now(), signal))) {
      settle(delivery, outcomeOf(delivery, result, attempts));
      return;
    }
  }
}

/** The push goes as one batch; again goes what may get better, when the last of it is due. */
async function deliverPushes(
  deliveries: readonly PushDelivery[],
  push: Senders['push'],
  { schedule, now, signal, settle }: Retrying,
): Promise<void> {
  let left = deliveries;
  for (let attempts = 1; left.length > 0; attempts += 1) {
    const again: PushDelivery[] = [];
    let dueAt = 0;
    await tryPushes(left, push, (delivery, result) => {
      const at = nextAttemptAt(delivery, result, attempts, now(), schedule);
      settle(delivery, outcomeOf(delivery, result, attempts));
      if (at !== null) {
        dueAt = Math.max(dueAt, at);
        again.push(delivery);
      }
    });
    left = again.length > 0 && (await passed(dueAt - now(), signal)) ? again : [];
  }
}

async function tryPushes(
  deliveries: readonly PushDelivery[],
  push: Senders['push'],
  onResult: (delivery: PushDelivery, result: AttemptResult) => void,
): Promise<void> {
  const results = deliveries.length > 0 ? await push.attempt(deliveries) : [];
  results.forEach((result, index) => {
    const delivery = deliveries[index];
    if (delivery !== undefined) {
      onResult(delivery, result);
    }
  });
}

function isTimely(delivery: Delivery, { now, settle }: Retrying): boolean {
  const isLate = now() >= delivery.expiresAt;
  if (isLate) {
    const { id: deliveryId } = delivery;
    const target = targetOf(delivery);
    settle(delivery, { target, deliveryId, state: 'suppressed', reason: 'expired' });
  }
  return !isLate;
}

/** What a result means once no other try follows. */
export function outcomeOf(delivery: Delivery, result: AttemptResult, attempts: number): Outcome {
  const { directive } = result;
  const rest = {
    target: targetOf(delivery),
    deliveryId: delivery.id,
    attempts,
    ...(directive !== undefined && { directive }),
  };
  if (result.state === 'failed') {
    const { state, code, detail } = result;
    return { state, code, detail, ...rest };
  }
  const { state, receiptId } = result;
  return { state, ...(receiptId !== undefined && { receiptId }), ...rest };
}

/** Whether the time passed in full; false when the signal ended it. */
async function passed(ms: number, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await wait(Math.max(0, ms), undefined, signal === undefined ? {} : { signal });
    return true;
  } catch {
    return false;
  }
}
