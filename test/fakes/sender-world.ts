import type { Outcome, PushDelivery } from '../../src/notify/delivery/delivery.js';
import { ExpoSender, type ExpoSenderOptions } from '../../src/notify/push/expo.sender.js';
import type { NotificationEvent } from '../../src/notify/content/notification-event.js';
import { notify, type NotifyOptions } from '../../src/notify/notify.js';
import { planNotification, type SavedToken } from '../../src/notify/delivery/plan.js';
import { readPreferences } from '../../src/notify/preferences.js';
import { WebhookSender } from '../../src/notify/webhook/webhook.sender.js';
import { FakePushService } from './expo-push-service.js';
import { anEvent, NOW, saved } from './webhook-account.js';
import { WebhookReceiver } from './webhook-receiver.js';

const ONE_TRY = { delaysMs: [], random: () => 0 };

/** A push service, a webhook, and a sender to both. */
export class SenderWorld {
  private constructor(
    readonly service: FakePushService,
    readonly receiver: WebhookReceiver,
    readonly push: ExpoSender,
    private readonly webhooks: WebhookSender,
  ) {}

  static async start(): Promise<SenderWorld> {
    const [service, receiver] = await Promise.all([
      FakePushService.start(),
      WebhookReceiver.start(),
    ]);
    const webhooks = new WebhookSender({ now: () => NOW });
    return new SenderWorld(service, receiver, pushSender(service), webhooks);
  }

  /** One try for each target, at the time of the event. */
  async send(
    event: NotificationEvent,
    settings: unknown,
    tokens: readonly SavedToken[] = [],
    options: NotifyOptions = {},
  ): Promise<readonly Outcome[]> {
    const { push, webhooks } = this;
    const once = { now: () => NOW, schedule: ONE_TRY, ...options };
    return (await notify(event, { settings, tokens }, { push, webhooks }, once)).outcomes;
  }

  async close(): Promise<void> {
    const { push, webhooks, service, receiver } = this;
    await Promise.all([push.close(), webhooks.close(), service.close(), receiver.close()]);
  }
}

export function pushSender(service: FakePushService, options: ExpoSenderOptions = {}): ExpoSender {
  const times = { rateLimitDelayMs: 1, now: () => NOW };
  return new ExpoSender({ baseUrl: service.url, ...times, ...options });
}

/** A permission request, to devices of these names. */
export function pushDeliveries(...names: string[]): PushDelivery[] {
  const event = anEvent('permission_request');
  const plan = planNotification(event, readPreferences({}), saved(...names), { now: NOW });
  return plan.deliveries.filter((delivery) => delivery.kind === 'push');
}
