import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import {
  CANCEL_REQUEST,
  closeStatements,
  FrameReader,
  GSS_REQUEST,
  SSL_REQUEST,
  STARTUP,
  withoutCopyIn,
  withOwnStatementName,
} from './embedded-frames.js';

type RunMessages = (messages: Buffer) => Uint8Array;

const TERMINATE = 0x58;
const SYNC = 0x53;
const QUERY = 0x51;
const FLUSH = 0x48;
const FUNCTION_CALL = 0x46;

const ROLLBACK = Buffer.from('S\0\0\0\x04Q\0\0\0\x0dROLLBACK\0', 'latin1');
const READY_OUTSIDE_TRANSACTION = Buffer.from('Z\0\0\0\x05I', 'latin1');

/**
 * Shares the only backend among sessions. A session owns it up to its Sync or Query, and while its
 * transaction is open. One that keeps it unused is closed after `idleLimitMs`.
 */
export class BackendQueue {
  private owner: Session | null = null;
  private readonly line = new Set<Session>();
  private isServing = false;
  private idleTimer: NodeJS.Timeout | null = null;

  constructor(
    private readonly run: RunMessages,
    private readonly idleLimitMs: number,
  ) {}

  join(session: Session): void {
    this.line.add(session);
    this.serve();
  }

  leave(session: Session): void {
    this.line.delete(session);
    if (this.owner === session) {
      this.run(ROLLBACK);
      this.owner = null;
    }
    this.serve();
  }

  private serve(): void {
    if (this.isServing) {
      return;
    }
    this.isServing = true;
    this.stopIdleTimer();
    for (let next = this.next(); next; next = this.next()) {
      this.line.delete(next);
      this.owner = this.runUnit(next) === 'free' ? null : next;
      if (next.hasWork) {
        this.line.add(next);
      }
    }
    this.isServing = false;
    this.watchIdleOwner();
  }

  private next(): Session | undefined {
    if (this.owner) {
      return this.owner.hasWork ? this.owner : undefined;
    }
    return this.line.values().next().value;
  }

  private runUnit(session: Session): 'free' | 'kept' {
    const bytes = this.run(session.takeUnit());
    const answer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    session.answer(answer);
    return answer.subarray(-READY_OUTSIDE_TRANSACTION.length).equals(READY_OUTSIDE_TRANSACTION)
      ? 'free'
      : 'kept';
  }

  private watchIdleOwner(): void {
    const owner = this.owner;
    if (owner) {
      this.idleTimer = setTimeout(() => owner.closeIdle(), this.idleLimitMs);
    }
  }

  private stopIdleTimer(): void {
    if (this.idleTimer) {
      clearTimeout(this.idleTimer);
      this.idleTimer = null;
    }
  }
}

let sessionCount = 0;

function nextPrefix(): string {
  sessionCount += 1;
  return `s${sessionCount}_`;
}

export class Session {
  private readonly prefix = nextPrefix();
  private readonly statements = new Set<string>();
  private messages: Buffer[] = [];
  private units: Buffer[] = [];
  private isGone = false;

  constructor(
    private readonly queue: BackendQueue,
    private readonly send: (bytes: Buffer) => void,
    readonly closeIdle: () => void,
  ) {}

  get hasWork(): boolean {
    return this.units.length > 0;
  }

  takeUnit(): Buffer {
    return this.units.shift() ?? Buffer.alloc(0);
  }

  answer(bytes: Buffer): void {
    if (!this.isGone) {
      this.send(bytes);
    }
  }

  receive(message: Buffer): void {
    const { frame, prepared } = withOwnStatementName(withoutCopyIn(message), this.prefix);
    if (prepared !== undefined) {
      this.statements.add(prepared);
    }
    this.messages.push(frame);
    if (endsUnit(frame[0])) {
      const unit = Buffer.concat(this.messages);
      this.messages = [];
      this.submit(unit);
    }
  }

  end(): void {
    this.isGone = true;
    this.messages = [];
    this.units = [];
    this.queue.leave(this);
    if (this.statements.size > 0) {
      this.submit(closeStatements(this.statements));
    }
  }

  submit(unit: Buffer): void {
    this.units.push(unit);
    this.queue.join(this);
  }
}

/** Returns true if the message ends a unit, within which no other session may run. */
function endsUnit(type = 0): boolean {
  return [SYNC, QUERY, FLUSH, FUNCTION_CALL].includes(type);
}

/** Serves the PostgreSQL protocol on the Unix socket `path`, one session per connection. */
export async function listenForSessions(path: string, queue: BackendQueue) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    attach(socket, queue);
  });
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(path, done);
  });
  return {
    async close(): Promise<void> {
      server.close();
      sockets.forEach((socket) => socket.destroy());
      await once(server, 'close');
    },
  };
}

function attach(socket: Socket, queue: BackendQueue): void {
  const reader = new FrameReader();
  const session = new Session(
    queue,
    (bytes) => socket.write(bytes),
    () => socket.destroy(),
  );
  let isOpen = false;
  socket.on('error', () => socket.destroy());
  socket.on('close', () => session.end());
  socket.on('data', (chunk: Buffer) => {
    reader.push(chunk);
    try {
      isOpen ||= open(socket, session, reader);
      if (isOpen) {
        receiveAll(socket, session, reader);
      }
    } catch {
      // Not the PostgreSQL protocol: no message can be answered, so the connection is closed.
      socket.destroy();
    }
  });
}

function open(socket: Socket, session: Session, reader: FrameReader): boolean {
  for (let opening = reader.takeOpening(); opening; opening = reader.takeOpening()) {
    switch (opening.code) {
      case SSL_REQUEST:
      case GSS_REQUEST:
        socket.write('N');
        break;
      case CANCEL_REQUEST:
        // A statement blocks the thread until it ends, so a cancel request finds none to cancel.
        socket.end();
        return false;
      case STARTUP:
        session.submit(opening.bytes);
        return true;
      default:
        throw new Error(`A connection asked for the unknown protocol ${opening.code}`);
    }
  }
  return false;
}

function receiveAll(socket: Socket, session: Session, reader: FrameReader): void {
  for (let frame = reader.takeFrame(); frame; frame = reader.takeFrame()) {
    if (frame[0] === TERMINATE) {
      socket.end();
      return;
    }
    session.receive(frame);
  }
}
