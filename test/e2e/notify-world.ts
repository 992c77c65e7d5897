import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FakePushService } from '../fakes/expo-push-service.js';
import { WebhookReceiver, type ReceiverBehaviour } from '../fakes/webhook-receiver.js';
import { type CliResult, type CliUser, type RunningCli, createCliUser } from '../helpers/cli.js';
import { call } from '../helpers/client.js';
import { type Server, startServer } from '../helpers/server.js';

/** A line that a notify command prints of a target. */
export interface TargetLine {
  readonly target: { readonly kind: string; readonly id: string | null };
  readonly deliveryId: string;
  readonly state: string;
  readonly code?: string;
}

export interface EventLine {
  readonly event: string;
  readonly outcomes: readonly TargetLine[];
}

/** A server whose device-key accounts are plain, so that the sender can read their settings. */
export function startPlainServer(): Promise<Server> {
  return startServer({
    env: {
      SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'optional',
      SERVICE_FEATURE_ENCRYPTION__DEFAULT_ACCOUNT_MODE: 'plain',
    },
  });
}

/** A user who is logged in, with a push service and webhooks on this computer. */
export class Notifying {
  private readonly receivers: WebhookReceiver[] = [];

  private constructor(
    readonly user: CliUser,
    readonly push: FakePushService,
    readonly server: Server,
  ) {}

  static async start(server: Server): Promise<Notifying> {
    const world = new Notifying(await createCliUser(), await FakePushService.start(), server);
    await world.ok('signup', '--server', server.url);
    return world;
  }

  get env(): Record<string, string> {
    return { EXPO_BASE_URL: this.push.url, XDG_STATE_HOME: this.stateHome };
  }

  get stateHome(): string {
    return `${this.user.home}/state`;
  }

  run(...args: readonly string[]): Promise<CliResult> {
    return this.user.run(args, this.env);
  }

  start(...args: readonly string[]): RunningCli {
    return this.user.start(args, this.env);
  }

  /** The JSON lines of a command that ends with 0. */
  async ok<Line>(...args: readonly string[]): Promise<Line[]> {
    return this.lines<Line>(0, ...args);
  }

  /** The JSON lines of a command that ends with this code. */
  async lines<Line>(code: number, ...args: readonly string[]): Promise<Line[]> {
    const result = await this.run(...args, '--json');
    expect(result).toMatchObject({ code });
    const lines = result.stdout.split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as Line);
  }

  /** Sends an event and gives the states of its targets, `push …abc: sent` say. */
  async notify(code: number, ...args: readonly string[]): Promise<string[]> {
    const lines = await this.lines<EventLine>(code, 'notify', ...args, '--no-background');
    return lines.flatMap(({ outcomes }) =>
      outcomes.map(({ target, state }) => `${target.kind} ${target.id}: ${state}`),
    );
  }

  /** Registers a push token of the account, as an app does. */
  async registerToken(pushToken: string): Promise<void> {
    const servers = join(this.user.configDirectory, 'servers');
    const [directory = ''] = await readdir(servers);
    const session = await readFile(join(servers, directory, 'session.json'), 'utf8');
    const { token } = JSON.parse(session) as { token: string };
    const body = { token: pushToken };
    const answer = await call(this.server, 'POST', '/v1/push-tokens', { token, body });
    expect(answer).toMatchObject({ status: 200 });
  }

  /** Adds a webhook that behaves like this under the id. */
  async webhook(
    id: string,
    behave?: ReceiverBehaviour,
    ...args: readonly string[]
  ): Promise<WebhookReceiver> {
    const receiver = await WebhookReceiver.start(behave);
    this.receivers.push(receiver);
    await this.ok('channels', 'add', receiver.url, '--id', id, ...args);
    return receiver;
  }

  async stop(): Promise<void> {
    await Promise.all([this.push.close(), ...this.receivers.map((one) => one.close())]);
    await this.user.remove();
  }
}
