import { ok, strictEqual } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OffboardingFixture } from '../../test/fixtures/offboarding-fixture.js';
import { begin, finalize, unlink } from '../../test/fixtures/provider-login-fixture.js';
import { postForm } from '../../test/fixtures/resource-server-fixture.js';
import { connect, type LiveClient } from '../../test/helpers/client-live.js';
import { sessionIdOf } from '../../test/fixtures/sessions-fixture.js';
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
import { PROGRAM, type ReplayedBackend } from './replayed-backend.js';
import { ReplayedProgram } from './replayed-program.js';

/** The length of a tick of the model, half of AUTH_ACCESS_CACHE_SECONDS. */
export const TICK_MS = 5000;
/** Age of the model at which a live connection that was not checked receives nothing. */
const BOUND = 3;
/** Longer than any age that the model knows. */
const LONG_MS = BOUND * TICK_MS;
/** The provider that every session needs. */
const PROVIDER = 'people';

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
  /** The session at the provider of which "first" is a part. */
  readonly providerSession: string;
}

/** The account of one trace, on replicas that every trace uses. */
export class Replay {
  /** Answers and connections that were compared with the model. */
  compared = 0;
  private readonly program: ReplayedProgram;
  private readonly tokens = new Map<string, string>();
  private readonly connections: Connection[] = [];
  private device: NewDevice | null = null;
  /** State of the model before the step that is taken. */
  private before: ModelState | null = null;

  private constructor(
    private readonly fixture: OffboardingFixture,
    private readonly replicas: Readonly<Record<string, DrivenReplica>>,
    private readonly administrator: string,
    private readonly person: ReplayedPerson,
    private readonly backend: ReplayedBackend,
  ) {
    this.program = new ReplayedProgram(backend);
  }

  static async begin(
    fixture: OffboardingFixture,
    replicas: Readonly<Record<string, DrivenReplica>>,
    administrator: string,
    backend: ReplayedBackend,
  ): Promise<Replay> {
    const [first] = Object.values(replicas);
    ok(first !== undefined);
    const key = makeDeviceKey();
    const { accountId } = await logIn(first.server, key);
    const [sub = ''] = await fixture.link([accountId]);
    const person = { accountId, key, sub, providerSession: randomUUID() };
    return new Replay(fixture, replicas, administrator, person, backend);
  }

  /** Takes the steps of a trace, and compares after each of them. */
  async run(steps: readonly Step[]): Promise<void> {
    const taken: string[] = [];
    const last = steps.at(-1);
    try {
      for (const step of steps) {
        taken.push(`${step.action} ${step.replica} ${step.session}`);
        await this.take(step);
        await this.compareEnds(step);
        await this.compare(step.state, step === last);
        this.before = step.state;
      }
      const [[name, replica] = []] = Object.entries(this.replicas);
      await this.compareUpdates(last?.state, name, async () =>
        replica?.order('publish', this.person.accountId),
      );
      await this.compareBackend();
      this.compared += this.program.compared;
    } catch (cause) {
      const logs = Object.values(this.replicas).map(({ server }) => server.logs().slice(-2000));
      const message = ['The server differs from the model:', ...taken, ...logs].join('\n');
      throw new Error(message, { cause });
    }
  }

  async end(): Promise<void> {
    this.connections.forEach(({ client }) => client.close());
    for (const replica of Object.values(this.replicas)) {
      replica.messages.drop();
      replica.clock.correct();
      await replica.mendDatabase();
    }
  }

  private async take(step: Step): Promise<void> {
    if (step.action !== 'begin') {
      const action = this.actions[step.action];
      ok(action !== undefined, step.action);
      await action(this.replicaOf(step.replica), step.session, step);
    }
  }

  private replicaOf(name: string): DrivenReplica {
    const replica = this.replicas[name];
    ok(replica !== undefined);
    return replica;
  }

  private readonly actions: Readonly<
    Record<string, (replica: DrivenReplica, session: string, step: Step) => Promise<unknown>>
  > = {
    logIn: (replica) => this.act(replica, () => this.logIn(replica)),
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
    exchange: ({ server }, session, { replica: name }) => {
      ok(this.before !== null);
      const judged = { before: this.before, reaches: reaches(this.before, name) };
      return this.backend.exchange(server, session, this.token(session), judged);
    },
    grant: ({ server }, session, { state, replica: name }) => {
      const { before } = this;
      ok(before !== null);
      const isGranted = state.atBackend[PROGRAM] === 'open';
      const approve = (): Promise<void> =>
        this.program.approve(server, this.token(session), { before, isGranted });
      return isGranted ? this.compareUpdates(state, name, approve) : approve();
    },
    refresh: ({ server }, _session, { replica: name }) => {
      ok(this.before !== null);
      return this.program.refresh(server, this.before, reaches(this.before, name));
    },
    giveBack: (replica) => this.act(replica, () => this.program.giveBack(replica.server)),
    endSession: (replica, session) =>
      this.administer(replica, 'DELETE', `/sessions/${sessionIdOf(this.token(session))}`),
    sweep: (replica) => replica.order('sweep'),
    tick: async () => this.tick(TICK_MS),
    jump: async (replica) => replica.clock.jump(LONG_MS),
    stop: async (replica, session, { state, replica: name }) => {
      replica.pause();
      this.tick(LONG_MS);
      const compared = this.compareAnswer(state, name, session);
      await nextTurn();
      replica.goOn();
      await compared;
    },
    restart: (replica) => replica.restart(this.otherThan(replica)),
    deliver: (replica) => replica.deliver(this.otherThan(replica), { again: false }),
    deliverTwice: (replica) => replica.deliver(this.otherThan(replica), { again: true }),
    lose: async (replica) => replica.messages.drop(),
    cutDatabase: async (replica) => replica.cutDatabase(),
    mendDatabase: (replica) => replica.mendDatabase(),
    endVoucher: (replica) => this.act(replica, () => this.endProviderSession(replica)),
    logOut: (replica, session) =>
      this.act(replica, () =>
        call(replica.server, 'POST', '/v1/auth/logout', { token: this.token(session) }),
      ),
    everywhere: (replica) => this.administer(replica, 'POST', '/revoke'),
    disable: (replica) => this.administer(replica, 'POST', '/disable'),
    enable: (replica) => this.administer(replica, 'POST', '/enable'),
    delete: (replica) => this.administer(replica, 'DELETE', ''),
    refuse: (replica, _session, { state, replica: name }) =>
      this.compareUpdates(state, name, () =>
        this.act(replica, () => unlink(replica.server, this.ownToken(name), PROVIDER)),
      ),
    restore: (replica, _session, { state, replica: name }) =>
      this.compareUpdates(state, name, () =>
        this.act(replica, async () => {
          const owner = { token: this.ownToken(name), sub: this.person.sub };
          replica.clock.overtake(this.otherThan(replica).clock);
          await this.setProviderClock(replica);
          return this.fixture.reconnect(replica.server, owner);
        }),
      ),
  };

  private tick(ms: number): void {
    Object.values(this.replicas).forEach(({ clock }) => clock.tick(ms));
  }

  private otherThan(replica: DrivenReplica): DrivenReplica {
    const other = Object.values(this.replicas).find((one) => one !== replica);
    ok(other !== undefined);
    return other;
  }

  private token(session: string): string {
    return this.tokens.get(session) ?? '';
  }

  /** The token of a session that goes on, which the replica does not refuse. */
  private ownToken(name: string): string {
    const { session = {}, replica = {} } = this.before ?? {};
    const isUsable = (one: string): boolean =>
      session[one] === 'live' && replica[name]?.cache[one]?.says !== 'no';
    return this.token(Object.keys(session).find(isUsable) ?? '');
  }

  /** The provider issues tokens for the clock of the replica that verifies them. */
  private async setProviderClock(replica: DrivenReplica): Promise<void> {
    const now = await replica.order('now');
    this.fixture.provider.now = () => now;
  }

  private async logIn(replica: DrivenReplica): Promise<Answer> {
    await this.setProviderClock(replica);
    const { server } = replica;
    const { key, sub, providerSession } = this.person;
    const { url, proof } = await begin(server, PROVIDER);
    const callback = this.fixture.provider.authorize(url, sub, providerSession);
    const pending = await this.fixture.pendingOf(server, callback);
    const answer = await finalize(server, pending, key, { provider: PROVIDER, proof });
    this.tokens.set('first', String(answer.body['token']));
    return answer;
  }

  private async endProviderSession(replica: DrivenReplica): Promise<Answer> {
    await this.setProviderClock(replica);
    const { sub, providerSession } = this.person;
    const claims = { sub: undefined, sid: providerSession };
    const token = await this.fixture.provider.logoutToken(sub, { claims });
    const path = `/v1/auth/backchannel-logout/${PROVIDER}`;
    return postForm(replica.server, path, { logout_token: token });
  }

  /** An act is acknowledged, and its messages wait at the other replica. */
  private async act(acting: DrivenReplica, request: () => Promise<Answer>): Promise<void> {
    const other = this.otherThan(acting);
    const { waiting } = other.messages;
    const { status, text } = await request();
    strictEqual(status, 200, text);
    await other.messages.untilHeld(waiting + 1);
    await acting.order('judge');
    await other.holdMessagesOf(acting);
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

  /** An act of a replica that reaches the database ended sessions at the backend. */
  private async compareEnds({ replica, state }: Step): Promise<void> {
    const { before } = this;
    const hasEnded = ([session, now]: [string, string]): boolean =>
      now === 'ended' && before?.atBackend[session] === 'open';
    if (before !== null && Object.entries(state.atBackend).some(hasEnded)) {
      await this.backend.compareEnds(this.replicaOf(replica).server, before, state);
    }
  }

  /** Compares the answers and the events that a backend receives after the last step. */
  private async compareBackend(): Promise<void> {
    const state = this.before;
    ok(state !== null);
    for (const [name, { server }] of Object.entries(this.replicas)) {
      await this.backend.compareAnswers(server, state, reaches(state, name));
      if (reaches(state, name)) {
        await this.backend.compareEnds(server, state, state);
      }
    }
  }

  private async compare(state: ModelState, isLast: boolean): Promise<void> {
    for (const name of Object.keys(this.replicas)) {
      const { cache = {}, reaches = false } = state.replica[name] ?? {};
      for (const session of this.tokens.keys()) {
        // A request changes what the replica has in memory. So it is sent where the model says that
        // it changes nothing, and at the end.
        if (isLast || !reaches || cache[session]?.says !== 'nothing') {
          await this.compareAnswer(state, name, session);
        }
        await this.compareConnection(state, name, session);
      }
    }
  }

  private async compareAnswer(
    { account, session, isEligible, replica: replicas }: ModelState,
    name: string,
    one: string,
  ): Promise<void> {
    const { server } = this.replicaOf(name);
    const own = replicas[name];
    const says = own?.cache[one]?.says ?? 'nothing';
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

  /**
   * A connection that was not checked within the bound is closed in place of an update.
   * @param state the one after the step, which may end connections of other replicas before the update
   * @param acting the replica that sends the update
   */
  private async compareUpdates(
    state: ModelState | undefined,
    acting: string | undefined,
    send: () => Promise<unknown>,
  ): Promise<void> {
    const open = this.connections
      .filter(({ isEnded }) => !isEnded)
      .map((connection) => ({ connection, received: connection.client.waiting('update') }));
    await send();
    for (const { connection, received } of open) {
      const { client, replica, session } = connection;
      const hasReceived = (): boolean => client.waiting('update') > received;
      await waitFor('an update or the end', () => connection.isEnded || hasReceived());
      const age = this.before?.replica[replica]?.socket[session]?.age ?? 0;
      const isOpen = state?.replica[replica]?.socket[session]?.isOpen === true;
      const mayEndFirst = replica !== acting && !isOpen;
      const isExpected = age < BOUND ? hasReceived() || mayEndFirst : !hasReceived();
      ok(isExpected, `${session} at ${replica}, checked ${age} ago, received: ${hasReceived()}`);
      this.compared += 1;
    }
  }
}

function reaches({ replica }: ModelState, name: string): boolean {
  return replica[name]?.reaches === true;
}
