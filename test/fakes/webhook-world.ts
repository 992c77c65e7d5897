import { deliver } from '../../src/notify/notify.js';
import type {
  AttemptResult,
  Outcome,
  WebhookDelivery,
} from '../../src/notify/delivery/delivery.js';
import { planNotification } from '../../src/notify/delivery/plan.js';
import { readPreferences } from '../../src/notify/preferences.js';
import {
  WebhookSender,
  type WebhookSenderOptions,
} from '../../src/notify/webhook/webhook.sender.js';
import { anEvent, aRequest, NOW, settingsWith } from './webhook-account.js';
import { WebhookReceiver, type ReceiverBehaviour } from './webhook-receiver.js';

/** Two retries at once: the schedule is not what is tried. */
export const QUICK = { delaysMs: [1, 1], random: () => 0 };

const open: { close(): Promise<void> }[] = [];

/** Closes every receiver and sender of this test. */
export async function closeAll(): Promise<void> {
  await Promise.all(open.splice(0).map((one) => one.close()));
}

export async function receiverThat(
  behave?: ReceiverBehaviour,
  tls?: { readonly cert: string; readonly key: string },
): Promise<WebhookReceiver> {
  const receiver = await WebhookReceiver.start(behave, tls);
  open.push(receiver);
  return receiver;
}

/** An address that refuses connections. */
export async function deadUrl(): Promise<string> {
  const receiver = await WebhookReceiver.start();
  await receiver.close();
  return receiver.url;
}

export function senderWith(options: WebhookSenderOptions = {}): WebhookSender {
  const sender = new WebhookSender({ now: () => NOW, ...options });
  open.push(sender);
  return sender;
}

export function deliveriesTo(...channels: Record<string, unknown>[]): WebhookDelivery[] {
  const event = anEvent('permission_request', { request: aRequest({ command: '<b> & "c"' }) });
  const preferences = readPreferences(settingsWith(channels));
  const { deliveries } = planNotification(event, preferences, [], { now: NOW });
  return deliveries.filter((delivery) => delivery.kind === 'webhook');
}

export async function oneTry(url: string, options?: WebhookSenderOptions): Promise<AttemptResult> {
  const [delivery] = deliveriesTo({ url });
  return senderWith(options).attempt(delivery!);
}

export async function deliverAll(
  deliveries: readonly WebhookDelivery[],
  schedule = QUICK,
  options: WebhookSenderOptions = {},
): Promise<Outcome[]> {
  const push = { attempt: () => Promise.resolve([]) };
  const webhooks = senderWith(options);
  return deliver(deliveries, { push, webhooks }, { now: () => NOW, schedule });
}
