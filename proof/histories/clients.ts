import { setTimeout as sleep } from 'node:timers/promises';
import { AdminCalls } from '../../test/fixtures/admin-fixture.js';
import {
  beginConnect,
  connectFinalize,
  unlink,
} from '../../test/fixtures/provider-login-fixture.js';
import type { SeededRandom } from '../../test/fixtures/seeded-random.js';
import { AccountCalls } from '../../test/helpers/account-calls.js';
import { connect, type LiveClient, type Refusal } from '../../test/helpers/client-live.js';
import {
  call,
  challengedLogin,
  logIn,
  makeDeviceKey,
  type Answer,
  type DeviceKey,
  type Json,
  type LoginBody,
} from '../../test/helpers/client.js';
import { DeviceCalls } from '../../test/helpers/device-calls.js';
import type { Recorded } from './check.js';
import type { Replica, Replicas } from './replicas.js';

interface Session {
  readonly name: string;
  readonly token: string;
}

interface Account {
  readonly id: string;
  readonly key: DeviceKey;
  /** The subject at the required provider. */
  readonly sub: string;
  readonly sessions: Session[];
  /** Version of the settings that the clients saw last. */
  version: number;
}

/** An act that a client is about to do, with a session and a replica that it may use. */
interface Turn {
  readonly account: Account;
  readonly session: Session;
  readonly at: Replica;
  /** Another replica, or the same. */
  readonly other: Replica;
  /** True for a third of the turns. */
  readonly isRace: boolean;
}

type Answered = Pick<Answer, 'status' | 'body'> & { readonly headers: Json };

type Known = Pick<Recorded, 'outcome'> & Partial<Recorded>;
type Given = Pick<Recorded, 'act'> & Partial<Recorded>;

const WEIGHTS = {
  ...{ request: 40, read: 8, write: 14, logIn: 10, logout: 3, everywhere: 1 },
  ...{ disable: 1, enable: 5, unlink: 2, link: 5, device: 3, connect: 3 },
} as const;
type Act = keyof typeof WEIGHTS;
const ACTS = Object.entries(WEIGHTS).flatMap(([act, weight]) =>
  Array.from({ length: weight }, () => act as Act),
);

/** Codes of acts that another client did first. */
const CONFLICTS = ['challenge-expired', 'not-found', 'invalid-pending', 'already-answered'];
const AWAY = ['unavailable', 'unknown', 'unsent'];
const NEWEST_SESSIONS = 5;
const PAUSES_MS = { least: 5, range: 50, afterUnavailable: 300 };
const CONNECTION_MS = 4000;

export const nowMs = (): number => Math.round(performance.now() * 1000) / 1000;

/** Clients of a few accounts, whose acts and requests are recorded. */
export class Clients {
  readonly history: Recorded[] = [];
  private readonly accounts: Account[] = [];
  private readonly connections = new Set<LiveClient>();
  private names = 0;

  constructor(private readonly replicas: Replicas) {}

  /** Creates an account that is linked to the required provider, with a session. */
  async addAccount(): Promise<void> {
    const [first] = this.replicas.all;
    const key = makeDeviceKey();
    const { accountId: id, token } = await logIn(first!.server, key);
    const [sub = ''] = await this.replicas.fixture.link([id]);
    const account: Account = { id, key, sub, sessions: [], version: 0 };
    await this.record({ act: 'login', replica: first!.name, account: id }, async () => ({
      outcome: 'done',
      ...this.created(account, token),
    }));
    this.accounts.push(account);
  }

  /** Acts one after another until the end. */
  async run(random: SeededRandom, end: AbortSignal): Promise<void> {
    while (!end.aborted) {
      const account = pick(random, this.accounts);
      const recorded = await this.acts[pick(random, ACTS)]({
        account,
        session: pick(random, account.sessions.slice(-NEWEST_SESSIONS)),
        at: pick(random, this.replicas.all),
        other: pick(random, this.replicas.all),
        isRace: random.below(3) === 0,
      });
      const isAway = recorded.some(({ outcome }) => AWAY.includes(outcome));
      const pause = PAUSES_MS.least + random.below(PAUSES_MS.range);
      await sleep(isAway ? PAUSES_MS.afterUnavailable : pause);
    }
  }

  /** @throws if the fault could not be made, or if its replica does not answer after it */
  async fail(act: string, replica: Replica, ms: number): Promise<void> {
    const name = act === 'database-killed' ? '*' : replica.name;
    const fault = this.replicas.faults[act]?.(replica, ms);
    await this.record({ act, replica: name }, async () => {
      await fault;
      return { outcome: 'done' };
    });
    await fault;
  }

  /** Sends a request of every session, and reads the settings, at every replica. */
  async compareAll(): Promise<void> {
    this.connections.forEach((one) => one.close());
    for (const account of this.accounts) {
      for (const at of this.replicas.all) {
        const turns = account.sessions.map((session) => {
          return { account, session, at, other: at, isRace: false };
        });
        await Promise.all(turns.map(this.acts.request));
        await Promise.all(turns.slice(-NEWEST_SESSIONS).map(this.acts.read));
      }
    }
  }

  private readonly acts: Readonly<Record<Act, (turn: Turn) => Promise<Recorded[]>>> = {
    // The body is refused after the token was admitted, without the database.
    request: (turn) =>
      this.bySession('request', turn, async ({ server }, token) => {
        const answer = await call(server, 'POST', '/v1/push-tokens', { token, body: {} });
        return answer.status === 400 ? { ...answer, status: 200 } : answer;
      }),
    read: (turn) =>
      this.bySession('read', turn, ({ server }, token) =>
        new AccountCalls(server, token).settings(),
      ),
    write: (turn) => {
      const given = { expected: turn.account.version, content: this.newName('content') };
      const { expected, content } = given;
      return this.bySession(
        'write',
        turn,
        ({ server }, token) => new AccountCalls(server, token).writeSettings(content, expected),
        given,
      );
    },
    logIn: async ({ account, at, other, isRace }) => {
      const body = await challengedLogin(at.server, account.key).catch(() => null);
      const replicas = isRace ? [at, other] : [at];
      return body === null
        ? []
        : Promise.all(replicas.map((replica) => this.logIn(account, replica, body)));
    },
    logout: (turn) => this.post('logout', turn, '/v1/auth/logout'),
    everywhere: (turn) => this.post('everywhere', turn, '/v1/auth/logout-everywhere'),
    disable: (turn) => this.administer('disable', turn),
    enable: (turn) => this.administer('enable', turn),
    unlink: (turn) =>
      this.bySession('unlink', turn, ({ server }, token) => unlink(server, token, 'people')),
    link: async (turn) => {
      const { account, session, at } = turn;
      const { fixture } = this.replicas;
      const since = nowMs();
      const once = await beginConnect(at.server, session.token, 'people')
        .then((url) => fixture.pendingOf(at.server, fixture.provider.authorize(url, account.sub)))
        .catch(() => undefined);
      return once === undefined
        ? []
        : this.bySession(
            'link',
            turn,
            ({ server }, token) => connectFinalize(server, once, token, 'people'),
            { once, since },
          );
    },
    device: async (turn) => {
      const device = await new DeviceCalls(turn.at.server).newDevice().catch(() => null);
      if (device?.id === undefined) {
        return [];
      }
      const { id, proof } = device;
      const approved = await this.bySession('approve', { ...turn, isRace: false }, (at, token) =>
        new DeviceCalls(at.server).approve(id, token),
      );
      if (approved[0]?.outcome !== 'done') {
        return approved;
      }
      return Promise.all([turn.at, turn.other].map((at) => this.claim(turn, at, id, proof)));
    },
    connect: async ({ account, session, at }) => {
      const about = { replica: at.name, account: account.id, session: session.name };
      const recorded = await this.record({ act: 'connect', ...about }, async () => {
        const client = await connect(at.server, { token: session.token }).catch(
          (error: unknown) => error as Refusal,
        );
        if (client instanceof Error) {
          const { data } = client;
          const headers = { 'retry-after': data?.['retryAfterSeconds'] };
          return data === undefined
            ? { outcome: 'unknown' }
            : outcomeOf({ status: Number(data['statusCode']), body: data, headers });
        }
        this.listen(client, about);
        return { outcome: 'done' };
      });
      return [recorded];
    },
  };

  private listen(client: LiveClient, about: Partial<Recorded>): void {
    this.connections.add(client);
    client.socket.on('update', ({ seq }: { readonly seq: number }) => {
      void this.record({ act: 'update', ...about, seq }, async () => ({ outcome: 'done' }));
    });
    void client.disconnected.then(() => this.connections.delete(client));
    setTimeout(() => client.close(), CONNECTION_MS).unref();
  }

  private post(act: string, turn: Turn, path: string): Promise<Recorded[]> {
    return this.bySession(act, { ...turn, isRace: false }, ({ server }, token) =>
      call(server, 'POST', path, { token }),
    );
  }

  private async administer(act: 'disable' | 'enable', { account, at }: Turn): Promise<Recorded[]> {
    const calls = new AdminCalls(at.adminUrl, this.replicas.tokens.operator);
    const about = { act, replica: at.name, account: account.id };
    return [await this.record(about, async () => outcomeOf(await calls.act(account.id, act)))];
  }

  private logIn(account: Account, { name, server }: Replica, body: LoginBody): Promise<Recorded> {
    const about = { act: 'login', replica: name, account: account.id, once: body.challenge };
    return this.record(about, async () => {
      const answer = await call(server, 'POST', '/v1/auth', { body });
      return { ...outcomeOf(answer), ...this.created(account, answer.body['token']) };
    });
  }

  private claim(
    { account, session }: Turn,
    { name, server }: Replica,
    id: string,
    proof: string,
  ): Promise<Recorded> {
    const about = { replica: name, account: account.id, session: session.name, once: id };
    return this.record({ act: 'claim', ...about }, async () => {
      const answer = await new DeviceCalls(server).claim(id, proof);
      const { state, token } = answer.body;
      const known = state === 'refused' ? ({ outcome: 'refused' } as const) : outcomeOf(answer);
      return { ...known, ...this.created(account, token) };
    });
  }

  /** Sends a call of a session; in a race, at two replicas at once. */
  private bySession(
    act: string,
    { account, session, at, other, isRace }: Turn,
    send: (at: Replica, token: string) => Promise<Answered>,
    given: Partial<Recorded> = {},
  ): Promise<Recorded[]> {
    const about = { act, account: account.id, session: session.name, ...given };
    return Promise.all(
      (isRace ? [at, other] : [at]).map((replica) =>
        this.record({ ...about, replica: replica.name }, async () => {
          const answer = await send(replica, session.token);
          const settings = settingsIn(answer.body);
          account.version = Math.max(account.version, settings.version ?? 0);
          return { ...outcomeOf(answer), ...settings };
        }),
      ),
    );
  }

  private created(account: Account, token: unknown): Partial<Recorded> {
    if (typeof token !== 'string') {
      return {};
    }
    const name = this.newName('session');
    account.sessions.push({ name, token });
    return { created: name };
  }

  private newName(kind: string): string {
    this.names += 1;
    return `${kind}-${this.names}`;
  }

  /** An act without an answer stays open: it may have happened, or happen later. */
  private async record(given: Given, act: () => Promise<Known>): Promise<Recorded> {
    const began = { replica: '', account: '', ...given, begin: nowMs() };
    const index = this.history.push({ ...began, end: null, outcome: 'unknown' }) - 1;
    const known = await act().catch((error: NodeJS.ErrnoException): Known => {
      return { outcome: error.code === 'ECONNREFUSED' ? 'unsent' : 'unknown', end: null };
    });
    const recorded = { ...began, end: nowMs(), ...known };
    this.history[index] = recorded;
    return recorded;
  }
}

function outcomeOf({ status, body, headers }: Answered): Known {
  if (status === 200) {
    return { outcome: body['success'] === false ? 'conflict' : 'done' };
  }
  const code = String(body?.['code']);
  if (CONFLICTS.includes(code)) {
    return { outcome: 'conflict' };
  }
  if (status === 401 || status === 403) {
    return { outcome: 'refused', answer: code };
  }
  if (status === 429) {
    return { outcome: 'unsent', answer: code };
  }
  const isUnavailable = status === 503 && Number(headers['retry-after']) > 0;
  return { outcome: isUnavailable ? 'unavailable' : 'surprise', answer: `${status} ${code}` };
}

/** The settings that a read, a write or a version conflict returned. */
function settingsIn({ version, ...body }: Json): Partial<Recorded> {
  if (body['settingsVersion'] !== undefined) {
    const { settings, settingsVersion } = body;
    return { version: Number(settingsVersion), content: settings as string | null };
  }
  if (body['currentVersion'] !== undefined) {
    const { currentSettings, currentVersion } = body;
    return { version: Number(currentVersion), content: currentSettings as string | null };
  }
  return version === undefined ? {} : { version: Number(version) };
}

function pick<Value>(random: SeededRandom, values: readonly Value[]): Value {
  return values[random.below(values.length)]!;
}
