import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import type { OffboardingFixture } from '../../test/fixtures/offboarding-fixture.js';
import { unlink } from '../../test/fixtures/provider-login-fixture.js';
import { tokenOf } from '../../test/fixtures/sessions-fixture.js';
import { connect, type LiveClient } from '../../test/helpers/client-live.js';
import {
  call,
  logIn,
  makeDeviceKey,
  type Answer,
  type DeviceKey,
} from '../../test/helpers/client.js';
import { DeviceCalls, type NewDevice } from '../../test/helpers/device-calls.js';
import { waitFor } from '../../test/helpers/wait.js';
import type { DrivenReplica } from './driven-replica.js';
import type { ModelState, Step } from './itf.js';

/** The length of a tick of the model, half of AUTH_ACCESS_CACHE_SECONDS. */
export const TICK_MS = 30_000;
/** Moves a clock further than any age that the model knows. */
const JUMP_MS = 100_000;
/** Ages of the model: facts in memory count no longer, and connections receive no longer. */
const BOUND = 3;

interface Connection {
  readonly client: LiveClient;
  readonly replica: string;
  readonly session: string;
  isEnded: boolean;
}

interface ReplayedPerson {
  readonly accountId: string;
  readonly key: DeviceKey;
  /** The subject at the required provider. */
  readonly sub: string;
}

/** The account of one trace, on replicas that every trace uses. */
export class Replay {
  /** Answers and connections that were compared with the model. */
  compared = 0;
  private readonly tokens = new Map<string, string>();
  private readonly connections: Connection[] = [];
  private device: NewDevice | null = null;

  private constructor(
    private readonly fixture: OffboardingFixture,
    private readonly replicas: Readonly<Record<string, DrivenReplica>>,
    private readonly administrator: string,
    private readonly person: ReplayedPerson,
  ) {}

  static async begin(
    fixture: OffboardingFixture,
    replicas: Readonly<Record<string, DrivenReplica>>,
    administrator: string,
  ): Promise<Replay> {
    const [first] = Object.values(replicas);
    ok(first !== undefined);
    const key = makeDeviceKey();
    const { accountId } = await logIn(first.server, key);
    const [sub = ''] = await fixture.link([accountId]);
    return new Replay(fixture, replicas, administrator, { accountId, key, sub });
  }

  /** Takes the steps of a trace, and compares after each of them. */
  async run(steps: readonly Step[]): Promise<void> {
    for (const [index, step] of steps.entries()) {
      try {
        await this.take(step);
        await this.compare(step.state, index === steps.length - 1);
      } catch (cause) {
        const taken = steps
          .slice(0, index + 1)
          .map(({ action, replica, session }) => `${action} ${replica} ${session}`);
        throw new Error(`Step ${index} differs from the model:\n${taken.join('\n')}`, { cause });
      }
    }
    await this.compareDeliveries(steps.at(-1)?.state);
  }

  async end(): Promise<void> {
    this.connections.forEach(({ client }) => client.close());
    for (const replica of Object.values(this.replicas)) {
      replica.messages.drop();
      await replica.mendDatabase();
    }
  }

  private async take(step: Step): Promise<void> {
    const replica = this.replicas[step.replica];
    const action = this.actions[step.action];
    ok(action !== undefined && (replica !== undefined || step.action === 'init'), step.action);
    if (replica !== undefined) {
      await action(replica, step.session, step);
    }
  }

  private readonly actions: Readonly<
    Record<string, (replica: DrivenReplica, session: string, step: Step) => Promise<unknown>>
  > = {
    init: async () => undefined,
    logIn: async ({ server }) => this.tokens.set('first', await tokenOf(server, this.person.key)),
    approve: async (replica) => {
      const devices = new DeviceCalls(replica.server);
      this.device = await devices.newDevice();
      strictEqual((await devices.approve(this.device.id, this.token('first'))).status, 200);
    },
    claim: async (replica) => {
      const { body } = await this.claim(replica);
      strictEqual(body['state'], 'approved');
      this.tokens.set('second', String(body['token']));
    },
    request: async () => undefined,
    connect: (replica, session, { replica: name }) => this.connect(replica, session, name),
    sweep: (replica) => replica.order('sweep'),
    tick: () => Promise.all(Object.values(this.replicas).map((one) => one.order('ahead', TICK_MS))),
    jump: (replica) => replica.order('wallAhead', JUMP_MS),
    deliver: async (replica) => {
      const other = Object.values(this.replicas).find((one) => one !== replica);
      ok(other !== undefined);
      await replica.deliver(other);
      await replica.order('sweep');
    },
    lose: async (replica) => replica.messages.drop(),
    cutDatabase: async (replica) => replica.cutDatabase(),
    mendDatabase: (replica) => replica.mendDatabase(),
    logOut: (replica, session) =>
      this.act(replica, () =>
        call(replica.server, 'POST', '/v1/auth/logout', { token: this.token(session) }),
      ),
    everywhere: (replica) => this.administer(replica, 'POST', '/revoke'),
    disable: (replica) => this.administer(replica, 'POST', '/disable'),
    enable: (replica) => this.administer(replica, 'POST', '/enable'),
    delete: (replica) => this.administer(replica, 'DELETE', ''),
    refuse: (replica, _session, { state, replica: name }) =>
      this.act(replica, () => unlink(replica.server, this.liveToken(state, name), 'people')),
    restore: (replica, _session, { state, replica: name }) =>
      this.act(replica, () => {
        const token = this.liveToken(state, name);
        return this.fixture.reconnect(replica.server, { token, sub: this.person.sub });
      }),
  };

  private token(session: string): string {
    return this.tokens.get(session) ?? '';
  }

  /** A session that is alive, and admitted by this replica where facts are in its memory. */
  private liveToken({ session, replica }: ModelState, name: string): string {
    const isKnownAs = (one: string, says: string): boolean =>
      replica[name]?.cache[one]?.says === says;
    const alive = Object.keys(session).filter((one) => session[one] === 'live');
    return this.token(alive.find((one) => isKnownAs(one, 'yes')) ?? alive[0] ?? '');
  }

  /** An act is acknowledged, and its message waits at the other replicas. */
  private async act(acting: DrivenReplica, request: () => Promise<Answer>): Promise<void> {
    const others = Object.values(this.replicas).filter((one) => one !== acting);
    const before = others.map(({ messages }) => messages.waiting);
    const { status, text } = await request();
    strictEqual(status, 200, text);
    await Promise.all(
      others.map(({ messages }, index) => messages.untilHeld((before[index] ?? 0) + 1)),
    );
    await acting.order('sweep');
  }

  private administer(replica: DrivenReplica, method: string, path: string): Promise<void> {
    const address = `/admin/v1/accounts/${this.person.accountId}${path}`;
    return this.act(replica, () =>
      call({ url: replica.adminUrl }, method, address, {
        token: this.administrator,
        body: { reason: 'replayed' },
      }),
    );
  }

  private claim(replica: DrivenReplica): Promise<Answer> {
    ok(this.device !== null);
    return new DeviceCalls(replica.server).claim(this.device.id, this.device.proof);
  }

  private async connect(
    { server }: DrivenReplica,
    session: string,
    replica: string,
  ): Promise<void> {
    const client = await connect(server, { token: this.token(session) });
    await client.next('hello');
    const connection: Connection = { client, replica, session, isEnded: false };
    void client.disconnected.then(() => (connection.isEnded = true));
    this.connections.push(connection);
  }

  private async compare(state: ModelState, isLast: boolean): Promise<void> {
    for (const [name, replica] of Object.entries(this.replicas)) {
      for (const session of this.tokens.keys()) {
        await this.compareAnswer(state, name, replica, session, isLast);
        await this.compareConnection(state, name, session);
      }
    }
  }

  /**
   * A request changes what a replica has in memory. So it is sent where the model says that it changes
   * nothing, and at the end.
   */
  private async compareAnswer(
    { account, session, isEligible, replica: replicas }: ModelState,
    name: string,
    { server }: DrivenReplica,
    one: string,
    isLast: boolean,
  ): Promise<void> {
    const own = replicas[name];
    const says = own?.cache[one]?.says ?? 'nothing';
    if (says === 'nothing' && own?.reaches === true && !isLast) {
      return;
    }
    const isStored = account === 'enabled' && session[one] === 'live' && isEligible;
    const expected = says === 'nothing' ? own?.reaches === true && isStored : says === 'yes';
    // The body is refused after the token was admitted, without the database.
    const { status, text } = await call(server, 'POST', '/v1/push-tokens', {
      token: this.token(one),
      body: {},
    });
    strictEqual(status === 400, expected, `${one} at ${name} was answered ${status}: ${text}`);
    const refusals = says === 'nothing' && own?.reaches !== true ? [503] : [401, 403];
    ok(expected || refusals.includes(status), `${one} at ${name} was answered ${status}: ${text}`);
    this.compared += 1;
  }

  private async compareConnection(state: ModelState, name: string, session: string): Promise<void> {
    const isOpen = state.replica[name]?.socket[session]?.isOpen === true;
    const own = this.connections.filter((one) => one.replica === name && one.session === session);
    const last = own.at(-1);
    if (last === undefined) {
      strictEqual(isOpen, false);
      return;
    }
    if (!isOpen) {
      await waitFor(`the connection of ${session} at ${name} ends`, () => last.isEnded);
    }
    strictEqual(!last.isEnded, isOpen, `the connection of ${session} at ${name}`);
    this.compared += 1;
  }

  /** A connection that was not checked within the bound is closed in place of an update. */
  private async compareDeliveries(state: ModelState | undefined): Promise<void> {
    for (const [name, replica] of Object.entries(this.replicas)) {
      const open = this.connections.filter((one) => one.replica === name && !one.isEnded);
      await replica.order('publish', this.person.accountId);
      for (const connection of open) {
        const { client, session } = connection;
        await waitFor(
          'an update or the end',
          () => connection.isEnded || client.waiting('update') > 0,
        );
        const age = state?.replica[name]?.socket[session]?.age ?? 0;
        deepStrictEqual(
          { session, isMute: client.waiting('update') === 0 && age < BOUND },
          { session, isMute: false },
        );
        ok(
          age < BOUND || client.waiting('update') === 0,
          `${session} at ${name} received an update`,
        );
        this.compared += 1;
      }
    }
  }
}
