import type { Senders } from '../../../packages/notify/delivery/attempt.js';
import {
  privateHostsIn,
  PUSH_SERVICE_VARIABLES,
  pushServiceProblem,
} from '../../../packages/notify/environment.js';
import { configurationError } from '../cli-error.js';

/** @throws CliError (configuration) for a variable that no request can use */
export function pushServiceOptions(environment: Readonly<Record<string, string | undefined>>) {
  const baseUrl = environment[PUSH_SERVICE_VARIABLES.baseUrl];
  const accessToken = environment[PUSH_SERVICE_VARIABLES.accessToken];
  const options = { ...(baseUrl && { baseUrl }), ...(accessToken && { accessToken }) };
  const problem = pushServiceProblem(options);
  if (problem !== null) {
    const message = `${PUSH_SERVICE_VARIABLES[problem.option]} ${problem.message}`;
    throw configurationError(message, 'configuration');
  }
  return options;
}

interface Sender {
  readonly close: () => unknown;
}

/** Senders that are loaded when they are first needed. */
export class LazySenders {
  private readonly loaded: Promise<Sender>[] = [];
  /** Strict senders share no connections with others. */
  private readonly strict: Senders = this.sendersFor(true);
  private readonly others: Senders = this.sendersFor(false);

  readonly expo = this.once(async () => {
    const options = pushServiceOptions(this.environment);
    const { ExpoSender } = await import('../../../packages/notify/push/expo.sender.js');
    return new ExpoSender(options);
  });

  /** @param denyPrivate true = no entry reaches hosts outside the public internet */
  constructor(
    private readonly environment: Readonly<Record<string, string | undefined>>,
    private readonly denyPrivate: boolean,
  ) {}

  of(entry?: { readonly denyPrivate: boolean }): Senders {
    return this.denyPrivate || entry?.denyPrivate === true ? this.strict : this.others;
  }

  async close(): Promise<void> {
    await Promise.all(this.loaded.map(async (sender) => (await sender).close()));
  }

  private sendersFor(denyPrivate: boolean): Senders {
    const guard = () => ({ denyPrivate, privateHosts: privateHostsIn(this.environment) });
    const webPush = this.once(async () => {
      const { WebPushSender } = await import('../../../packages/notify/push/web-push.sender.js');
      return new WebPushSender(guard());
    });
    const webhook = this.once(async () => {
      const { WebhookSender } = await import('../../../packages/notify/webhook/webhook.sender.js');
      return new WebhookSender(guard());
    });
    return {
      push: { attempt: async (deliveries) => (await this.expo()).attempt(deliveries) },
      webPush: { attempt: async (delivery) => (await webPush()).attempt(delivery) },
      webhooks: { attempt: async (delivery) => (await webhook()).attempt(delivery) },
    };
  }

  private once<Loaded extends Sender>(load: () => Promise<Loaded>): () => Promise<Loaded> {
    let sender: Promise<Loaded> | undefined;
    return () => {
      if (sender === undefined) {
        sender = load();
        this.loaded.push(sender);
      }
      return sender;
    };
  }
}
