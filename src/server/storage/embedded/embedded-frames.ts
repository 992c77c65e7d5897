import { protocol } from '@electric-sql/pglite';

/** Frontend messages of the PostgreSQL protocol 3 (documentation, chapter "Message Formats"). */

export const STARTUP = 196608;
export const SSL_REQUEST = 80877103;
export const GSS_REQUEST = 80877104;
export const CANCEL_REQUEST = 80877102;

/** Refuses larger messages: a corrupt length must not make the process buffer without limit. */
const MAX_FRAME_BYTES = 256 * 1024 * 1024;
const MAX_OPENING_BYTES = 64 * 1024;

export class FrameReader {
  private chunks: Buffer[] = [];
  private size = 0;

  push(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.size += chunk.length;
  }

  takeOpening(): { readonly code: number; readonly bytes: Buffer } | null {
    const head = this.joined(8);
    if (!head) {
      return null;
    }
    const length = head.readInt32BE(0);
    if (length < 8 || length > MAX_OPENING_BYTES) {
      throw new Error(`A connection began with a message of ${length} bytes`);
    }
    const bytes = this.take(length);
    return bytes && { code: head.readInt32BE(4), bytes };
  }

  takeFrame(): Buffer | null {
    const head = this.joined(5);
    if (!head) {
      return null;
    }
    const length = head.readInt32BE(1);
    if (length < 4 || length > MAX_FRAME_BYTES) {
      throw new Error(`A message claims to be ${length} bytes long`);
    }
    return this.take(length + 1);
  }

  private take(length: number): Buffer | null {
    const all = this.joined(length);
    if (all === null) {
      return null;
    }
    this.chunks[0] = all.subarray(length);
    this.size -= length;
    return all.subarray(0, length);
  }

  /**
   * Joins chunks only when the first one is too short: a large message is copied once.
   * @returns null where fewer bytes than `length` have arrived; else at least as many
   */
  private joined(length: number): Buffer | null {
    if (this.size < length) {
      return null;
    }
    const first = this.chunks[0];
    if (first && first.length >= length) {
      return first;
    }
    const all = Buffer.concat(this.chunks);
    this.chunks = [all];
    return all;
  }
}

/**
 * Prefixes the name of a prepared statement, to separate sessions; unnamed ones stay unnamed.
 * @returns the message to send, and the prefixed name when the message creates a statement
 */
export function withOwnStatementName(
  frame: Buffer,
  prefix: string,
): { readonly frame: Buffer; readonly prepared?: string } {
  const at = statementNameOffset(frame);
  if (at === null || at >= frame.length || frame[at] === 0) {
    return { frame };
  }
  const renamed = Buffer.concat([frame.subarray(0, at), Buffer.from(prefix), frame.subarray(at)]);
  renamed.writeInt32BE(renamed.length - 1, 1);
  if (frame[0] !== PARSE) {
    return { frame: renamed };
  }
  return { frame: renamed, prepared: renamed.toString('utf8', at, renamed.indexOf(0, at)) };
}

const QUERY = 0x51;
const PARSE = 0x50;
const BIND = 0x42;
const DESCRIBE = 0x44;
const CLOSE = 0x43;
const STATEMENT = 0x53;

function statementNameOffset(frame: Buffer): number | null {
  switch (frame[0]) {
    case PARSE:
      return 5;
    case BIND:
      return frame.indexOf(0, 5) + 1;
    case DESCRIBE:
    case CLOSE:
      return frame[5] === STATEMENT ? 6 : null;
    default:
      return null;
  }
}

const COPY_IN = /\bcopy\b[^;]*\bfrom\s+stdin\b/i;
const REFUSE_COPY_IN =
  "DO $$BEGIN RAISE EXCEPTION 'COPY FROM STDIN is not possible with the embedded database' " +
  "USING ERRCODE = 'feature_not_supported'; END$$";

/** Replaces a statement that waits for input (COPY FROM STDIN), because the backend would end. */
export function withoutCopyIn(frame: Buffer): Buffer {
  const at = sqlOffset(frame);
  const sqlEnd = at === null ? -1 : frame.indexOf(0, at);
  if (at === null || sqlEnd < 0 || !COPY_IN.test(frame.toString('latin1', at, sqlEnd))) {
    return frame;
  }
  const parts = [frame.subarray(0, at), Buffer.from(REFUSE_COPY_IN), frame.subarray(sqlEnd)];
  const replaced = Buffer.concat(parts);
  replaced.writeInt32BE(replaced.length - 1, 1);
  return replaced;
}

function sqlOffset(frame: Buffer): number | null {
  if (frame[0] === QUERY) {
    return 5;
  }
  return frame[0] === PARSE ? frame.indexOf(0, 5) + 1 : null;
}

export function closeStatements(names: Iterable<string>): Buffer {
  const closes = [...names].map((name) => protocol.serialize.close({ type: 'S', name }));
  return Buffer.concat([...closes, protocol.serialize.sync()]);
}
