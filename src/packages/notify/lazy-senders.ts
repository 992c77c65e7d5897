import type { Senders } from './delivery/attempt.js';
import { privateHostsIn } from './environment.js';
import type { ExpoSender } from './push/expo.sender.js';
import type { WebPushSender } from './push/web-push.sender.js';
import type { WebhookSender } from './webhook/webhook.sender.js';

export class LazySenders {
  private expoSender: Promise<ExpoSender> | null = null;
  /** The key is `denyPrivate`: strict senders share no connections with others. */
  private readonly webPushSenders = new Map<boolean, Promise<WebPushSender>>();
  private readonly webhookSenders = new Map<boolean, Promise<WebhookSender>>();

  /** @param denyPrivate true = no entry reaches hosts outside the public internet */
  constructor(
    private readonly environment: Readonly<Record<string, string | undefined>>,
    private readonly denyPrivate: boolean,
  ) {}

  of(entry?: { readonly denyPrivate: boolean }): Senders {
    const denyPrivate = this.denyPrivate || entry?.denyPrivate === true;
    return {
      push: { attempt: async (deliveries) => (await this.expo()).attempt(deliveries) },
      webPush: { attempt: async (delivery) => (await this.webPush(denyPrivate)).attempt(delivery) },
      webhooks: {
        attempt: async (delivery) => (await this.webhook(denyPrivate)).attempt(delivery),
      },
    };
  }

  expo(): Promise<ExpoSender> {
    const { EXPO_BASE_URL: baseUrl, EXPO_ACCESS_TOKEN: accessToken } = this.environment;
    this.expoSender ??= import('./push/expo.sender.js').then(({ ExpoSender }) => {
      return new ExpoSender({ ...(baseUrl && { baseUrl }), ...(accessToken && { accessToken }) });
    });
    return this.expoSender;
  }

  async close(): Promise<void> {
    const guarded = [...this.webPushSenders.values(), ...this.webhookSenders.values()];
    const loaded = [this.expoSender, ...guarded];
    await Promise.all(loaded.map(async (sender) => (await sender)?.close()));
  }

  private webPush(denyPrivate: boolean): Promise<WebPushSender> {
    return readOnce(this.webPushSenders, denyPrivate, async () => {
      const { WebPushSender } = await import('./push/web-push.sender.js');
      return new WebPushSender({ denyPrivate, privateHosts: privateHostsIn(this.environment) });
    });
  }

  private webhook(denyPrivate: boolean): Promise<WebhookSender> {
    return readOnce(this.webhookSenders, denyPrivate, async () => {
      const { WebhookSender } = await import('./webhook/webhook.sender.js');
      return new WebhookSender({ denyPrivate, privateHosts: privateHostsIn(this.environment) });
    });
  }
}

function readOnce<Key, Value>(
  known: Map<Key, Promise<Value>>,
  key: Key,
  read: () => Promise<Value>,
): Promise<Value> {
  const value = known.get(key) ?? read();
  known.set(key, value);
  return value;
}
