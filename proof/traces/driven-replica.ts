import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
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
import { makeDeviceKey } from '../../test/helpers/client.js';
import { TcpProxy } from '../../test/helpers/tcp-proxy.js';
import { waitFor } from '../../test/helpers/wait.js';
import { MessageGate } from './message-gate.js';

const PROGRAM = fileURLToPath(new URL('replica.mjs', import.meta.url));
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** No server listens there. */
const CLOSED_PORT = 9;

type Order = 'ahead' | 'wallAhead' | 'sweep' | 'publish' | 'announce' | 'hasHandled';

/** A replica of the built server behind proxies, whose clock is driven. */
export class DrivenReplica {
  private nextId = 0;

  private constructor(
    readonly server: Server,
    readonly adminUrl: string,
    readonly messages: MessageGate,
    private readonly database: TcpProxy,
    private readonly databasePort: number,
    private readonly child: ChildProcess,
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
      },
    });
    const [child] = children;
    if (child === undefined) {
      throw new Error('The replica has no process.');
    }
    return new DrivenReplica(
      server,
      await adminUrlOf(server),
      messages,
      database,
      databasePort,
      child,
    );
  }

  /** Runs an order in the process of the replica. */
  async order(order: Order, value: number | string = 0): Promise<number> {
    const id = (this.nextId += 1);
    const answered = new Promise<number>((done) => {
      const receive = (answer: { id: number; result: number | null }): void => {
        if (answer.id === id) {
          this.child.off('message', receive);
          done(answer.result ?? 0);
        }
      };
      this.child.on('message', receive);
    });
    this.child.send({ id, order, value });
    return answered;
  }

  /**
   * Delivers the messages that are held, and waits until the replica has handled them: a last one,
   * about an account of its own, arrives after them.
   */
  async deliver(other: DrivenReplica): Promise<void> {
    const marker = randomUUID();
    await other.order('announce', marker);
    await waitFor('the last message', () => this.messages.holds(marker));
    this.messages.deliver();
    await waitFor('the messages were handled', async () => {
      return (await this.order('hasHandled', marker)) === 1;
    });
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
  }
}

function run(env: Readonly<Record<string, string>>, children: ChildProcess[]): Running {
  const child = spawn(process.execPath, [PROGRAM], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  children.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  const exited = once(child, 'close').then(([code, signal]: unknown[]): Exit => {
    return { code: code as number | null, signal: signal as NodeJS.Signals | null };
  });
  return {
    child,
    exited,
    logs: () => output,
    kill: (signal) => {
      child.kill(signal);
      return exited;
    },
  };
}
