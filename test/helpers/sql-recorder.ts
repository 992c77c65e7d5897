import type { Socket } from 'node:net';
import { TcpProxy } from './tcp-proxy.js';

/** Type and length of a message of PostgreSQL's protocol; a connection begins with one without type. */
const LENGTH_BYTES = 4;

/** A port that forwards to PostgreSQL, and counts the statements that arrive. */
export class SqlRecorder {
  private readonly counts = new Map<string, number>();
  private readonly connections = new WeakMap<Socket, FrontendMessages>();
  private proxy!: TcpProxy;

  static async start(databaseUrl: string): Promise<SqlRecorder> {
    const recorder = new SqlRecorder();
    recorder.proxy = await TcpProxy.start(Number(new URL(databaseUrl).port), undefined, (...seen) =>
      recorder.read(...seen),
    );
    return recorder;
  }

  urlFor(databaseUrl: string): string {
    return this.proxy.urlFor(databaseUrl);
  }

  /** Returns the statements since the last call, with their numbers. */
  take(): ReadonlyMap<string, number> {
    const taken = new Map(this.counts);
    this.counts.clear();
    return taken;
  }

  close(): void {
    this.proxy.close();
  }

  private read(chunk: Buffer, connection: Socket): void {
    const messages = this.connections.get(connection) ?? new FrontendMessages();
    this.connections.set(connection, messages);
    for (const sql of messages.statementsIn(chunk)) {
      const text = sql.replaceAll(/\s+/g, ' ').trim();
      this.counts.set(text, (this.counts.get(text) ?? 0) + 1);
    }
  }
}

/** The messages of one connection, of which `Query` and `Parse` have a statement. */
class FrontendMessages {
  private rest = Buffer.alloc(0);
  private isStarted = false;
  /** The texts of named statements, which later messages only bind. */
  private readonly named = new Map<string, string>();

  statementsIn(chunk: Buffer): string[] {
    this.rest = Buffer.concat([this.rest, chunk]);
    const statements: string[] = [];
    for (;;) {
      const at = this.isStarted ? 1 : 0;
      const isCut = this.rest.length < at + LENGTH_BYTES;
      const end = isCut ? Infinity : at + this.rest.readUInt32BE(at);
      if (this.rest.length < end) {
        return statements;
      }
      if (this.isStarted) {
        statements.push(...this.statementOf(this.rest.subarray(0, end)));
      }
      this.isStarted = true;
      this.rest = this.rest.subarray(end);
    }
  }

  private statementOf(message: Buffer): string[] {
    const type = String.fromCharCode(message[0] ?? 0);
    const [first = '', second = ''] = message.toString('utf8', 1 + LENGTH_BYTES).split('\0');
    if (type === 'P') {
      this.named.set(first, second);
    }
    // A message `Bind` names its portal, then its statement.
    if (type === 'B') {
      return [this.named.get(second) ?? ''];
    }
    return type === 'Q' ? [first] : [];
  }
}
