import { io, type Socket } from 'socket.io-client';
import type { AccountUpdate } from './api-client-answers.js';
import { isRecord, readProblem, type GatehouseProblem } from './problem.js';
import { canReconnect, reconnectDelayMs } from './update-reconnect.js';
import { UpdateSequence, type UpdateGap } from './update-sequence.js';

/** What the connection is for (contract, Updates). */
export type UpdateScope =
  | { readonly clientType?: 'user-scoped' }
  | { readonly clientType: 'session-scoped'; readonly sessionId: string }
  | { readonly clientType: 'machine-scoped'; readonly machineId: string };

export type UpdateOptions = UpdateScope & {
  /** As `parseServerUrl` returns it. */
  readonly serverUrl: string;
  readonly token: string;
  /**
   * Where an earlier connection stood, so that what came since shows as a gap. 0 for a client that
   * reads before it is connected: what changes in between is a gap then, too.
   */
  readonly lastSeq?: number;
  /** Default: WebSocket, and polling only where a proxy lets nothing else through. */
  readonly transports?: readonly ('websocket' | 'polling')[];
};

export interface UpdateHandlers {
  /** Connected; `seq` is where the account stands. Comes again after every reconnect. */
  readonly onConnected?: (hello: { readonly accountId: string; readonly seq: number }) => void;
  /** Something changed: ask for it over HTTP. Ignore a `body.t` you do not know. */
  readonly onUpdate?: (update: AccountUpdate) => void;
  /** Updates were missed: ask for everything that is shown. */
  readonly onGap?: (gap: UpdateGap) => void;
  /** Not connected; tries again by itself. `problem` is null when the network is all it is. */
  readonly onWaiting?: (problem: GatehouseProblem | null, retryInMs: number) => void;
  /** The end: this token will not get in again before somebody does something. */
  readonly onStopped?: (problem: GatehouseProblem) => void;
}

interface ServerEvents {
  hello: (hello: unknown) => void;
  update: (update: unknown) => void;
  closing: (reason: unknown) => void;
}

interface ClientEvents {
  ping: (answered: (pong: unknown) => void) => void;
}

/** Updates that overtake each other do so by less. */
const OVERTAKING_MS = 1000;

/** Keeps a connection for updates up until {@link UpdateConnection.close}, or the server says no. */
export function connectUpdates(options: UpdateOptions, handlers: UpdateHandlers): UpdateConnection {
  const { serverUrl, lastSeq, transports = ['websocket', 'polling'], ...auth } = options;
  const { origin, pathname } = new URL(serverUrl);
  const socket: Socket<ServerEvents, ClientEvents> = io(origin, {
    path: `${pathname.replace(/\/$/, '')}/v1/updates`,
    transports: [...transports],
    tryAllTransports: true,
    auth,
    // Its own reconnecting knows nothing of what the server asks for.
    reconnection: false,
    autoConnect: false,
    forceNew: true,
  });
  return new UpdateConnection(socket, handlers, new UpdateSequence(lastSeq ?? null));
}

/** One account's updates, over as many connections as it takes. */
export class UpdateConnection {
  private closing: GatehouseProblem | null = null;
  private attempt = 0;
  private isEnded = false;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private overtaking: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly socket: Socket<ServerEvents, ClientEvents>,
    private readonly handlers: UpdateHandlers,
    private readonly sequence: UpdateSequence,
  ) {
    socket.on('hello', (hello) => this.onHello(hello));
    socket.on('update', (update) => this.onUpdate(update));
    socket.on('closing', (reason) => (this.closing = readProblem(reason)));
    socket.on('connect_error', (error) => this.comeBack(problemOf(error)));
    socket.on('disconnect', () => this.comeBack(this.closing));
    this.open();
  }

  /** Everything up to here was seen or reported as a gap: `lastSeq` of the next connection. */
  get position(): number | null {
    return this.sequence.position;
  }

  /** Whether the server answers within the time: ask after a device has slept. */
  isAlive(withinMs: number): Promise<boolean> {
    return this.socket
      .timeout(withinMs)
      .emitWithAck('ping')
      .then(
        () => true,
        () => false,
      );
  }

  /** Ends it; no handler is called any more. */
  close(): void {
    this.isEnded = true;
    clearTimeout(this.retry);
    clearTimeout(this.overtaking);
    this.socket.disconnect();
  }

  private open(): void {
    this.closing = null;
    this.sequence.begin();
    this.socket.connect();
  }

  private onHello(hello: unknown): void {
    if (this.isEnded || !isHello(hello)) {
      return;
    }
    this.attempt = 0;
    const gap = this.sequence.hello(hello.seq);
    this.handlers.onConnected?.(hello);
    this.report(gap);
  }

  private onUpdate(update: unknown): void {
    if (this.isEnded || !isUpdate(update)) {
      return;
    }
    const isOneMissing = this.sequence.update(update.seq);
    if (isOneMissing && this.overtaking === undefined) {
      this.overtaking = setTimeout(() => {
        this.overtaking = undefined;
        this.report(this.sequence.settle());
      }, OVERTAKING_MS);
    }
    this.handlers.onUpdate?.(update);
  }

  private report(gap: UpdateGap | null): void {
    if (gap !== null) {
      this.handlers.onGap?.(gap);
    }
  }

  private comeBack(problem: GatehouseProblem | null): void {
    if (this.isEnded) {
      return;
    }
    if (problem !== null && !canReconnect(problem)) {
      this.close();
      this.handlers.onStopped?.(problem);
      return;
    }
    const delayMs = reconnectDelayMs(this.attempt, problem?.retryAfterSeconds, Math.random());
    this.attempt += 1;
    clearTimeout(this.retry);
    this.retry = setTimeout(() => this.open(), delayMs);
    this.handlers.onWaiting?.(problem, delayMs);
  }
}

function problemOf(error: Error & { readonly data?: unknown }): GatehouseProblem | null {
  return readProblem(error.data);
}

function isHello(value: unknown): value is { accountId: string; seq: number } {
  return isRecord(value) && typeof value['accountId'] === 'string' && isSeq(value['seq']);
}

function isUpdate(value: unknown): value is AccountUpdate {
  return (
    isRecord(value) &&
    isSeq(value['seq']) &&
    isRecord(value['body']) &&
    typeof value['body']['t'] === 'string'
  );
}

function isSeq(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
