import { closeStatements, withoutCopyIn, withOwnStatementName } from './embedded-frames.js';

/** The one PostgreSQL backend: runs messages to their end and returns every answer. */
export type RunMessages = (messages: Buffer) => Uint8Array;

const SYNC = 0x53;
const QUERY = 0x51;
const FLUSH = 0x48;
const FUNCTION_CALL = 0x46;

const ROLLBACK = Buffer.from('S\0\0\0\x04Q\0\0\0\x0dROLLBACK\0', 'latin1');
const READY_OUTSIDE_TRANSACTION = Buffer.from('Z\0\0\0\x05I', 'latin1');

/**
 * Shares the one backend among sessions. A session gets it for everything up to its Sync or
 * Query, and keeps it while its transaction is open; the others wait in line. One that keeps it
 * without using it is put out after `idleLimitMs`, because the backend's own limit has no clock.
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

  /** Called when `session` has something to run. */
  join(session: Session): void {
    this.line.add(session);
    this.serve();
  }

  /** Ends what `session` had begun, then serves the others. */
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
      this.idleTimer = setTimeout(() => owner.putOut(), this.idleLimitMs);
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

/** One client connection: what it sent and has not been run yet, and the statements it named. */
export class Session {
  private readonly prefix = `s${++sessionCount}_`;
  private readonly statements = new Set<string>();
  private messages: Buffer[] = [];
  private units: Buffer[] = [];
  private isGone = false;

  constructor(
    private readonly queue: BackendQueue,
    private readonly send: (bytes: Buffer) => void,
    /** Closes the connection of a client that keeps the database without using it. */
    readonly putOut: () => void,
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

  begin(startup: Buffer): void {
    this.submit(startup);
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

  /** Rolls back, forgets what has not been run and closes the statements the session named. */
  end(): void {
    this.isGone = true;
    this.messages = [];
    this.units = [];
    this.queue.leave(this);
    if (this.statements.size > 0) {
      this.submit(closeStatements(this.statements));
    }
  }

  private submit(unit: Buffer): void {
    this.units.push(unit);
    this.queue.join(this);
  }
}

/** Nothing may run in between: the unnamed statement and the portals belong to one session. */
function endsUnit(type = 0): boolean {
  return [SYNC, QUERY, FLUSH, FUNCTION_CALL].includes(type);
}
