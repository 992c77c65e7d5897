import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { adminUrlOf, type AdminTokensFile } from '../../test/fixtures/admin-fixture.js';
import type { OffboardingFixture } from '../../test/fixtures/offboarding-fixture.js';
import {
  startServer,
  type Exit,
  type Running,
  type Server,
} from '../../test/fixtures/programs/server-fixture.js';
import { logInAs } from '../../test/fixtures/sessions-fixture.js';
import { outputOf } from '../../test/helpers/child-output.js';
import { makeDeviceKey } from '../../test/helpers/client.js';
import { TcpProxy } from '../../test/helpers/tcp-proxy.js';
import { waitFor } from '../../test/helpers/wait.js';
import { MessageGate } from './message-gate.js';

const PROGRAM = fileURLToPath(new URL('replica.mjs', import.meta.url));
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** No server listens there. */
const CLOSED_PORT = 9;

type Order = 'now' | 'sweep' | 'settle' | 'judge' | 'publish' | 'announce' | 'hasHandled';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/**
 * Time passes more slowly for the replicas than for the database, which would take what they store, such as a code of a
 * minute, for expired. So they begin an hour ahead.
 */
const START_MS = Date.now() - DAY_MS + HOUR_MS;
/** By the clock that all processes of a machine share: no clock goes back when a replica starts again. */
const BEGAN_MS = Number(process.hrtime.bigint()) / 1e6;

/** The clocks of a replica, in a file that it reads. */
class ClockFile {
  private readonly directory = mkdtempSync(join(tmpdir(), 'gatehouse-clock-'));
  readonly path = join(this.directory, 'ahead');
  private readonly file = openSync(this.path, 'w');
  private elapsedMs = DAY_MS;

  /** Milliseconds by which the wall clock is ahead. */
  private aheadMs = 0;

  constructor() {
    this.write();
  }

  tick(ms: number): void {
    this.elapsedMs += ms;
    this.write();
  }

  jump(ms: number): void {
    this.aheadMs += ms;
    this.write();
  }

  /** The next act of a person is later than the last one by either clock, whichever jumped. */
  overtake(other: ClockFile): void {
    this.jump(Math.max(0, other.aheadMs - this.aheadMs) + 1);
  }

  /** Sets the wall clock right. The monotonic one cannot go back. */
  correct(): void {
    this.aheadMs = 0;
    this.write();
  }

  close(): void {
    closeSync(this.file);
    rmSync(this.directory, { recursive: true });
  }

  private write(): void {
    const times = new Float64Array([this.elapsedMs, START_MS + this.aheadMs, BEGAN_MS]);
    writeSync(this.file, times, 0, null, 0);
  }
}

/** A replica of the built server behind proxies, whose clock is driven. */
export class DrivenReplica {
  private nextId = 0;

  private constructor(
    public server: Server,
    public adminUrl: string,
    readonly clock: ClockFile,
    readonly messages: MessageGate,
    private readonly database: TcpProxy,
    private readonly databasePort: number,
    /** Each process of the replica, the newest last. */
    private readonly children: readonly ChildProcess[],
  ) {}

  static async start(
    fixture: OffboardingFixture,
    tokens: AdminTokensFile,
    env: Readonly<Record<string, string>>,
  ): Promise<DrivenReplica> {
    const databaseUrl = fixture.store.databaseUrl ?? '';
    const redisUrl = fixture.env['REDIS_URL'] ?? '';
    const databasePort = Number(new URL(databaseUrl).port);
    const [messages, database] = await Promise.all([
      MessageGate.start(Number(new URL(redisUrl).port)),
      TcpProxy.start(databasePort),
    ]);
    const clock = new ClockFile();
    const children: ChildProcess[] = [];
    const server = await startServer({
      store: fixture.store,
      host: { run: (variables) => run(variables, children) },
      env: {
        ...fixture.env,
        ...tokens.env,
        ...env,
        REDIS_URL: messages.urlFor(redisUrl),
        DATABASE_URL: database.urlFor(databaseUrl),
        GATEHOUSE_PROOF_CLOCK: clock.path,
      },
    });
    const adminUrl = await adminUrlOf(server);
    return new DrivenReplica(server, adminUrl, clock, messages, database, databasePort, children);
  }

  /** Runs an order in the process of the replica. */
  async order(order: Order, value = ''): Promise<number> {
    const id = (this.nextId += 1);
    const child = this.child;
    const answered = new Promise<number>((done) => {
      const receive = (answer: { id: number; result: number | null }): void => {
        if (answer.id === id) {
          child.off('message', receive);
          done(answer.result ?? 0);
        }
      };
      child.on('message', receive);
    });
    child.send({ id, order, value });
    return answered;
  }

  /**
   * Waits until the messages are held that the other replica sent before: it announces changes of an
   * account of its own until one arrives.
   * @returns the id of that account
   */
  async holdMessagesOf(other: DrivenReplica): Promise<string> {
    const marker = randomUUID();
    await waitFor('a message', async () => {
      await other.order('announce', marker);
      return this.messages.holds(marker);
    });
    return marker;
  }

  /**
   * Delivers the messages that are held, and waits until the replica has handled them: a last one,
   * about an account of its own, arrives after them.
   */
  async deliver(other: DrivenReplica, options: { readonly again: boolean }): Promise<void> {
    const marker = await this.holdMessagesOf(other);
    this.messages.deliver(options);
    await waitFor('the messages were handled', async () => {
      return (await this.order('hasHandled', marker)) === 1;
    });
    await this.order('settle');
  }

  /** Ends the process, and starts another that receives messages. */
  async restart(other: DrivenReplica): Promise<void> {
    this.server = await this.server.restart();
    this.adminUrl = await adminUrlOf(this.server);
    await this.holdMessagesOf(other);
    this.messages.drop();
  }

  /** Requests that begin now wait until the process goes on. */
  pause(): void {
    this.child.kill('SIGSTOP');
  }

  goOn(): void {
    this.child.kill('SIGCONT');
  }

  cutDatabase(): void {
    this.database.leadTo(CLOSED_PORT);
    this.database.cut();
  }

  /** Waits until the replica looks for an account that does not exist. */
  async mendDatabase(): Promise<void> {
    this.database.leadTo(this.databasePort);
    const key = makeDeviceKey();
    await waitFor('the replica reaches the database', async () => {
      const { status } = await logInAs(this.server, key, { create: false });
      return status === 404;
    });
  }

  async stop(): Promise<void> {
    await this.server.stop();
    this.messages.close();
    this.database.close();
    this.clock.close();
  }

  private get child(): ChildProcess {
    const child = this.children.at(-1);
    if (child === undefined) {
      throw new Error('The replica has no process.');
    }
    return child;
  }
}

function run(env: Readonly<Record<string, string>>, children: ChildProcess[]): Running {
  const child = spawn(process.execPath, [PROGRAM], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  children.push(child);
  const logs = outputOf(child);
  const exited = once(child, 'close').then(([code, signal]: unknown[]): Exit => {
    return { code: code as number | null, signal: signal as NodeJS.Signals | null };
  });
  const kill = (signal: NodeJS.Signals): Promise<Exit> => {
    child.kill(signal);
    return exited;
  };
  return { child, exited, logs, kill, end: () => kill('SIGKILL') };
}
