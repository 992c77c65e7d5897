import { io, type ManagerOptions, type Socket } from 'socket.io-client';
import { parseJson } from '../../../common/parse-json.js';
import { isHello, isUpdate, type AccountUpdate } from '../api/api-client-answers.js';
import { MAX_TIMER_MS } from '../api/api-client-transport.js';
import { serverAddressOf } from '../api/server-url.js';
import { readProblem, type GatehouseProblem } from '../api/problem.js';
import { UpdateSequence, type UpdateGap } from './update-sequence.js';

/** The scope of the connection (contract, Updates). */
export type UpdateScope =
  | { readonly clientType?: 'user-scoped' }
  | { readonly clientType: 'session-scoped'; readonly sessionId: string }
  | { readonly clientType: 'machine-scoped'; readonly machineId: string };

export type UpdateOptions = UpdateScope & {
  /** As `parseServerUrl` returns it. */
  readonly serverUrl: string;
  readonly token: string;
  /**
   * {@link UpdateConnection.position} of an earlier connection: later updates are reported as a gap.
   * 0 for a client that reads before it connects: changes in between are then a gap, too.
   */
  readonly lastSeq?: number;
  /**
   * Default: WebSocket, and polling where a proxy blocks WebSockets. In Node these connect directly; behind a forward proxy
   * take `WebSocket` and `Fetch` of socket.io-client, which use the dispatcher of undici.
   */
  readonly transports?: ManagerOptions['transports'];
};

export interface UpdateHandlers {
  /** Connected, also after a reconnect; `seq` is the account's last update. */
  readonly onConnected?: (hello: { readonly accountId: string; readonly seq: number }) => void;
  /** Something changed: read it over HTTP. Ignore an unknown `body.t`. */
  readonly onUpdate?: (update: AccountUpdate) => void;
  /** Updates were missed: read everything that is shown again. */
  readonly onGap?: (gap: UpdateGap) => void;
  /** Disconnected, and reconnects by itself. `problem` is null for a network failure. */
  readonly onWaiting?: (problem: GatehouseProblem | null, retryInMs: number) => void;
  /** The server refuses this token until something changes; it does not reconnect. */
  readonly onStopped?: (problem: GatehouseProblem) => void;
}

interface ServerEvents {
  hello: (hello: unknown) => void;
  update: (update: unknown) => void;
  closing: (reason: unknown) => void;
}

interface ClientEvents {
  ping: (acknowledge: (pong: unknown) => void) => void;
}

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;
/** A connection that lasted for less does not begin the delays again: what ends it may still be there. */
const STABLE_AFTER_MS = 30_000;
/** Timers fire at once above 2^31 ms. */
const MAX_HINT_SECONDS = 3600;
/** Time in which an update may arrive after a later one. */
const REORDER_WINDOW_MS = 1000;

interface ConnectError extends Error {
  /** Present on a refused CONNECT packet. */
  readonly data?: unknown;
  /** Present on a failed polling request: an XMLHttpRequest. */
  readonly context?: { readonly responseText?: string };
}

/** Connects, and reconnects until {@link UpdateConnection.close} or a lasting refusal. */
export function connectUpdates(options: UpdateOptions, handlers: UpdateHandlers): UpdateConnection {
  const { serverUrl, lastSeq, transports = ['websocket', 'polling'], ...auth } = options;
  const { origin, path } = serverAddressOf(serverUrl);
  const socket: Socket<ServerEvents, ClientEvents> = io(origin, {
    path: `${path}/v1/updates`,
    transports,
    tryAllTransports: true,
    auth,
    // Socket.IO's own reconnection ignores the server's retryAfterSeconds.
    reconnection: false,
    autoConnect: false,
    forceNew: true,
  });
  return new UpdateConnection(socket, handlers, new UpdateSequence(lastSeq ?? null));
}

export class UpdateConnection {
  private closing: GatehouseProblem | null = null;
  private attempt = 0;
  /** Unix milliseconds; null while there is no connection. */
  private connectedAt: number | null = null;
  private isClosed = false;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private reorderWindow: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly socket: Socket<ServerEvents, ClientEvents>,
    private readonly handlers: UpdateHandlers,
    private readonly sequence: UpdateSequence,
    private readonly now: () => number = Date.now,
  ) {
    socket.on('hello', (hello) => this.onHello(hello));
    socket.on('update', (update) => this.onUpdate(update));
    socket.on('closing', (reason) => (this.closing = readProblem(reason)));
    socket.on('connect_error', (error: ConnectError) =>
      this.reconnect(readProblem(error.data) ?? refusalOfRequest(error)),
    );
    socket.on('disconnect', () => this.reconnect(this.closing));
    this.open();
  }

  /** Every update up to here was delivered or reported as a gap: the next `lastSeq`. */
  get position(): number | null {
    return this.sequence.position;
  }

  /** Returns true if the server answers in time; check it after the device was suspended. */
  isAlive(withinMs: number): Promise<boolean> {
    return this.socket
      .timeout(Math.min(withinMs, MAX_TIMER_MS))
      .emitWithAck('ping')
      .then(
        () => true,
        () => false,
      );
  }

  /** Disconnects; no handler is called afterwards. */
  close(): void {
    this.isClosed = true;
    clearTimeout(this.retry);
    clearTimeout(this.reorderWindow);
    this.socket.disconnect();
  }

  private open(): void {
    this.closing = null;
    this.sequence.begin();
    this.socket.connect();
  }

  private onHello(hello: unknown): void {
    if (this.isClosed || !isHello(hello)) {
      return;
    }
    this.connectedAt ??= this.now();
    const gap = this.sequence.hello(hello.seq);
    this.handlers.onConnected?.(hello);
    this.report(gap);
  }

  private onUpdate(update: unknown): void {
    if (this.isClosed || !isUpdate(update)) {
      return;
    }
    const isOneMissing = this.sequence.update(update.seq);
    if (isOneMissing && this.reorderWindow === undefined) {
      this.reorderWindow = setTimeout(() => {
        this.reorderWindow = undefined;
        this.report(this.sequence.settle());
      }, REORDER_WINDOW_MS);
    }
    this.handlers.onUpdate?.(update);
    if (this.sequence.isFull) {
      this.report(this.sequence.settle());
    }
  }

  private report(gap: UpdateGap | null): void {
    if (gap !== null && !this.isClosed) {
      this.handlers.onGap?.(gap);
    }
  }

  private reconnect(problem: GatehouseProblem | null): void {
    if (this.isClosed) {
      return;
    }
    if (problem !== null && !problem.isTemporary) {
      this.close();
      this.handlers.onStopped?.(problem);
      return;
    }
    if (this.connectedAt !== null && this.now() - this.connectedAt >= STABLE_AFTER_MS) {
      this.attempt = 0;
    }
    this.connectedAt = null;
    const delayMs = reconnectDelayMs(this.attempt, problem?.retryAfterSeconds, Math.random());
    this.attempt += 1;
    clearTimeout(this.retry);
    this.retry = setTimeout(() => this.open(), delayMs);
    this.handlers.onWaiting?.(problem, delayMs);
  }
}

/**
 * Returns null for a WebSocket request, whose answer is hidden, and for a lasting refusal, which
 * may concern only polling.
 */
function refusalOfRequest({ context }: ConnectError): GatehouseProblem | null {
  const problem = readProblem(parseJson(context?.responseText ?? ''));
  return problem?.isTemporary === true ? problem : null;
}

/**
 * The delay before the next attempt: the server's hint, or exponential backoff. Jitter adds up to
 * half, so that clients do not reconnect at once after a restart.
 *
 * @param attempt 0 for the first
 * @param jitter from 0 to 1
 */
export function reconnectDelayMs(
  attempt: number,
  retryAfterSeconds: number | undefined,
  jitter: number,
): number {
  const doubled = Math.min(FIRST_DELAY_MS * 2 ** Math.min(attempt, 16), MAX_DELAY_MS);
  const hinted = Math.max(
    Math.min(retryAfterSeconds ?? 0, MAX_HINT_SECONDS) * 1000,
    FIRST_DELAY_MS,
  );
  const base = retryAfterSeconds === undefined ? doubled : hinted;
  return Math.round(base * (1 + jitter / 2));
}
