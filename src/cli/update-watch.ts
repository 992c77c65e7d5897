import type { Socket } from 'socket.io-client';
import type { AccountUpdate } from '../client/api-client-answers.js';
import {
  isRecord,
  readProblem,
  ServerUnreachable,
  type GatehouseProblem,
} from '../client/problem.js';
import { formatTime } from './format-time.js';
import type { Output } from './output.js';

interface ServerEvents {
  hello: (hello: unknown) => void;
  update: (update: unknown) => void;
  closing: (reason: unknown) => void;
}

/** After a refusal that may pass; socket.io itself only retries what never got an answer. */
const RETRY_AFTER_REFUSAL_MS = 2000;
const RETRY_AFTER_CLOSE_MS = 500;
/** So that a server that comes back is not met by all its clients in one moment. */
const JITTER_MS = 1000;

/** One connection to `/v1/updates` that is kept up until somebody ends it. */
export class UpdateWatch {
  private wasConnected = false;
  private lastSeq: number | null = null;
  private closing: GatehouseProblem | null = null;
  private retry: ReturnType<typeof setTimeout> | null = null;
  private settle: (error?: Error) => void = () => undefined;

  constructor(
    private readonly socket: Socket<ServerEvents>,
    private readonly server: string,
    private readonly output: Output,
  ) {
    socket.on('hello', (hello) => this.onHello(hello));
    socket.on('update', (update) => this.onUpdate(update));
    socket.on('closing', (reason) => (this.closing = readProblem(reason)));
    socket.on('connect_error', (error) => this.onRefusal(error));
    socket.on('disconnect', (reason) => this.onDisconnect(reason));
  }

  /**
   * Connects, and resolves after {@link stop}. Rejects with the refusal when the server will not
   * have this account, and with ServerUnreachable when the first attempt gets no answer.
   */
  async untilStopped(): Promise<void> {
    try {
      await new Promise<void>((done, fail) => {
        this.settle = (error) => (error === undefined ? done() : fail(error));
        this.socket.connect();
      });
    } finally {
      clearTimeout(this.retry ?? undefined);
      this.socket.disconnect();
    }
  }

  stop(): void {
    this.settle();
  }

  private onHello(hello: unknown): void {
    this.wasConnected = true;
    this.closing = null;
    const seq = isRecord(hello) ? hello['seq'] : null;
    if (typeof seq !== 'number') {
      return;
    }
    const missed = this.lastSeq === null ? 0 : seq - this.lastSeq;
    this.lastSeq = seq;
    this.output.note(
      missed > 0
        ? `Connected to ${this.server} again; ${missed} update(s) were missed.`
        : `Connected to ${this.server}; waiting for updates. Ctrl-C ends this.`,
    );
  }

  private onUpdate(update: unknown): void {
    if (!isUpdate(update)) {
      return;
    }
    const { seq, createdAt, body } = update;
    this.lastSeq = seq;
    this.output.result(update, `${formatTime(createdAt)}  #${seq}  ${body.t}`);
  }

  private onRefusal(error: Error & { data?: unknown }): void {
    const problem = readProblem(error.data);
    if (problem === null) {
      this.onNoAnswer(error);
    } else if (!problem.isTemporary) {
      this.settle(problem);
    } else if (!this.socket.active) {
      this.output.note(`${problem.message} Trying again.`);
      this.connectLater(RETRY_AFTER_REFUSAL_MS);
    }
  }

  private onNoAnswer(cause: Error): void {
    if (!this.wasConnected) {
      const reason = 'no connection for updates';
      this.settle(new ServerUnreachable(this.server, reason, { cause }));
    }
  }

  /** Where the server ends a connection socket.io does not come back by itself. */
  private onDisconnect(reason: string): void {
    const { closing } = this;
    if (reason === 'io client disconnect') {
      return;
    }
    if (closing !== null && !closing.isTemporary) {
      this.settle(closing);
      return;
    }
    this.output.note(`The connection to ${this.server} ended; connecting again.`);
    if (!this.socket.active) {
      this.connectLater(RETRY_AFTER_CLOSE_MS);
    }
  }

  private connectLater(delayMs: number): void {
    clearTimeout(this.retry ?? undefined);
    this.retry = setTimeout(() => this.socket.connect(), delayMs + Math.random() * JITTER_MS);
  }
}

function isUpdate(value: unknown): value is AccountUpdate {
  return (
    isRecord(value) &&
    typeof value['seq'] === 'number' &&
    isRecord(value['body']) &&
    typeof value['body']['t'] === 'string'
  );
}
