import type { Agent } from 'node:http';
import {
  io,
  Manager,
  type ManagerOptions,
  type Socket,
  type SocketOptions,
} from 'socket.io-client';
import type { Json, Target } from './client.js';
import { WAIT_LIMIT_MS } from './wait.js';

const PATH = '/v1/updates';

/** A refused handshake, as the client library reports it. */
export interface Refusal extends Error {
  readonly data?: Json;
}

/** A live connection at /v1/updates. */
export interface LiveClient {
  readonly socket: Socket;
  next(event: string): Promise<Json>;
  /** Returns the number of received events of that name that no test has read. */
  waiting(event: string): number;
  /** Resolves with the reason when the connection ends. */
  readonly disconnected: Promise<string>;
  close(): void;
}

type Options = Partial<Omit<ManagerOptions & SocketOptions, 'agent'>> & { readonly agent?: Agent };

/** Connects, or rejects with the error of `connect_error` ({@link Refusal}). */
export async function connect(
  target: Target,
  auth: Json,
  options: Options = {},
): Promise<LiveClient> {
  const socket = io(target.url, {
    path: PATH,
    transports: ['websocket'],
    reconnection: false,
    forceNew: true,
    timeout: WAIT_LIMIT_MS,
    auth,
    // The types of the library do not contain the agent, because browsers have none.
    ...(options as object),
  });
  const queue = new EventQueue(socket);
  const disconnected = new Promise<string>((done) => socket.once('disconnect', done));
  await new Promise<void>((done, fail) => {
    socket.once('connect', done);
    // The transport may be closed before the handshake is answered.
    socket.once('disconnect', (reason) => fail(new Error(reason)));
    socket.once('connect_error', (error) => {
      socket.close();
      fail(error);
    });
  });
  return {
    socket,
    next: (event) => queue.next(event),
    waiting: (event) => queue.waiting(event),
    disconnected,
    close: () => void socket.close(),
  };
}

/** Returns the refusal of a handshake that must fail. */
export async function refusedConnect(
  target: Target,
  auth: Json,
  options: Options = {},
): Promise<Refusal> {
  const outcome = await connect(target, auth, options).catch((error: unknown) => error as Refusal);
  if (!(outcome instanceof Error)) {
    outcome.close();
    throw new Error('The handshake was accepted');
  }
  return outcome;
}

/** A transport that has not sent the CONNECT packet, and passes frames unchanged. */
export interface RawConnection {
  send(frame: string): void;
  readonly frames: readonly string[];
  readonly closed: Promise<unknown>;
  close(): void;
}

export async function openTransport({ url }: Target): Promise<RawConnection> {
  const manager = new Manager(url, {
    path: PATH,
    transports: ['websocket'],
    reconnection: false,
    autoConnect: false,
    timeout: WAIT_LIMIT_MS,
  });
  await new Promise<void>((done, fail) => {
    manager.open((error) => (error === undefined ? done() : fail(error)));
  });
  const { engine } = manager;
  const frames: string[] = [];
  engine.on('data', (data: string) => void frames.push(data));
  return {
    send: (frame) => void engine.write(frame),
    frames,
    closed: new Promise((done) => engine.on('close', done)),
    close: () => void engine.close(),
  };
}

class EventQueue {
  private readonly events: { name: string; payload: Json }[] = [];
  private readonly waiters = new Set<() => void>();
  private hasEnded = false;

  constructor(socket: Socket) {
    const wakeAll = (): void => this.waiters.forEach((wake) => wake());
    socket.onAny((name: string, payload: Json) => {
      this.events.push({ name, payload });
      wakeAll();
    });
    socket.on('disconnect', () => {
      this.hasEnded = !socket.io.reconnection();
      wakeAll();
    });
  }

  waiting(name: string): number {
    return this.events.filter((event) => event.name === name).length;
  }

  next(name: string): Promise<Json> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        this.waiters.delete(take);
        settle();
      };
      const fail = (when: string): void =>
        end(() => reject(new Error(`No ${name} came ${when}: ${JSON.stringify(this.events)}`)));
      const take = (): void => {
        const index = this.events.findIndex((event) => event.name === name);
        const [event] = index === -1 ? [] : this.events.splice(index, 1);
        if (event !== undefined) {
          end(() => resolve(event.payload));
        } else if (this.hasEnded) {
          fail('before the connection ended');
        }
      };
      const timer = setTimeout(() => fail(`within ${WAIT_LIMIT_MS} ms`), WAIT_LIMIT_MS);
      this.waiters.add(take);
      take();
    });
  }
}
