import type { Senders } from '../../notify/deliver.js';
import type { ExpoSender } from '../../notify/expo.sender.js';
import type { WebhookSender } from '../../notify/webhook.sender.js';

/** The senders of one command, each loaded when the first thing is sent through it. */
export class NotifySenders {
  private expoSender: Promise<ExpoSender> | null = null;
  /** By whether they refuse private addresses: a connection of one is none of the other's. */
  private readonly webhookSenders = new Map<boolean, Promise<WebhookSender>>();

  constructor(private readonly environment: Readonly<Record<string, string | undefined>>) {}

  of(denyPrivate: boolean): Senders {
    return {
      push: { attempt: async (deliveries) => (await this.expo()).attempt(deliveries) },
      webhooks: {
        attempt: async (delivery) => (await this.webhook(denyPrivate)).attempt(delivery),
      },
    };
  }

  expo(): Promise<ExpoSender> {
    const { EXPO_BASE_URL: baseUrl, EXPO_ACCESS_TOKEN: accessToken } = this.environment;
    this.expoSender ??= import('../../notify/expo.sender.js').then(
      ({ ExpoSender }) =>
        new ExpoSender({ ...(baseUrl && { baseUrl }), ...(accessToken && { accessToken }) }),
    );
    return this.expoSender;
  }

  async close(): Promise<void> {
    const loaded = [this.expoSender, ...this.webhookSenders.values()];
    await Promise.all(loaded.map(async (sender) => (await sender)?.close()));
  }

  private webhook(denyPrivate: boolean): Promise<WebhookSender> {
    const sender =
      this.webhookSenders.get(denyPrivate) ??
      import('../../notify/webhook.sender.js').then(
        ({ WebhookSender }) => new WebhookSender({ denyPrivate }),
      );
    this.webhookSenders.set(denyPrivate, sender);
    return sender;
  }
}
