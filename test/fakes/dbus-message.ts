import type { Socket } from 'node:net';

/** A message of the D-Bus Specification, 0.43, as far as a notification daemon needs it. */
export interface DbusMessage {
  readonly type: number;
  readonly serial: number;
  readonly member: string;
  readonly sender: string;
  readonly body: Buffer;
}

interface DbusFields {
  readonly path?: string;
  /** Of the interface. */
  readonly name?: string;
  readonly member?: string;
  readonly error?: string;
  readonly replyTo?: number;
  readonly to?: string;
  readonly signature?: string;
}

const FIXED_HEADER_BYTES = 16;
const MEMBER_FIELD = 3;
const SENDER_FIELD = 7;
const FIELDS: readonly (readonly [code: number, signature: string, name: keyof DbusFields])[] = [
  [1, 'o', 'path'],
  [2, 's', 'name'],
  [MEMBER_FIELD, 's', 'member'],
  [4, 's', 'error'],
  [5, 'u', 'replyTo'],
  [6, 's', 'to'],
  [8, 'g', 'signature'],
];

const padding = (at: number, boundary: number): number => (boundary - (at % boundary)) % boundary;

/** Values in the order of a signature, little-endian. */
export class DbusWriter {
  private bytes = Buffer.alloc(0);

  number(value: number): this {
    this.align(4);
    const word = Buffer.alloc(4);
    word.writeUInt32LE(value);
    return this.add(word);
  }

  text(value: string): this {
    const content = Buffer.from(value);
    return this.number(content.length).add(content, Buffer.of(0));
  }

  texts(values: readonly string[]): this {
    const content = values.reduce((all, one) => all.text(one), new DbusWriter()).bytes;
    return this.number(content.length).add(content);
  }

  /** A whole message with what was written as its body. */
  message(type: number, serial: number, fields: DbusFields): Buffer {
    const header = new DbusWriter();
    for (const [code, signature, name] of FIELDS) {
      const value = fields[name];
      if (value !== undefined && value !== '') {
        header.align(8).add(Buffer.of(code)).signature(signature);
        if (typeof value === 'number') {
          header.number(value);
        } else if (signature === 'g') {
          header.signature(value);
        } else {
          header.text(value);
        }
      }
    }
    const start = new DbusWriter().add(Buffer.of('l'.charCodeAt(0), type, 0, 1));
    start.number(this.bytes.length).number(serial).number(header.bytes.length);
    return start.add(header.bytes).align(8).add(this.bytes).bytes;
  }

  private signature(value: string): this {
    return this.add(Buffer.of(value.length), Buffer.from(value), Buffer.of(0));
  }

  private align(boundary: number): this {
    return this.add(Buffer.alloc(padding(this.bytes.length, boundary)));
  }

  private add(...parts: readonly Buffer[]): this {
    this.bytes = Buffer.concat([this.bytes, ...parts]);
    return this;
  }
}

export class DbusReader {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  number(): number {
    this.align(4);
    this.at += 4;
    return this.bytes.readUInt32LE(this.at - 4);
  }

  text(): string {
    const length = this.number();
    this.at += length + 1;
    return this.bytes.toString('utf8', this.at - length - 1, this.at - 1);
  }

  texts(): string[] {
    const end = this.number() + this.at;
    const texts: string[] = [];
    while (this.at < end) {
      texts.push(this.text());
    }
    return texts;
  }

  /** A field of a header: its code, and its value where that is text. */
  field(): readonly [code: number, value: string] {
    this.align(8);
    const code = this.byte();
    const signature = this.signature();
    if (signature === 'g') {
      return [code, this.signature()];
    }
    return [code, signature === 'u' ? String(this.number()) : this.text()];
  }

  private signature(): string {
    const length = this.byte();
    this.at += length + 1;
    return this.bytes.toString('utf8', this.at - length - 1, this.at - 1);
  }

  private byte(): number {
    this.at += 1;
    return this.bytes.readUInt8(this.at - 1);
  }

  private align(boundary: number): void {
    this.at += padding(this.at, boundary);
  }
}

/** Calls back for each whole message that arrives. */
export function readDbusMessages(socket: Socket, onMessage: (message: DbusMessage) => void): void {
  let unread = Buffer.alloc(0);
  socket.on('data', (data: Buffer) => {
    unread = Buffer.concat([unread, data]);
    for (let size = sizeOf(unread); size <= unread.length; size = sizeOf(unread)) {
      onMessage(parse(unread.subarray(0, size)));
      unread = unread.subarray(size);
    }
  });
}

/** Infinity until its header is there. */
function sizeOf(bytes: Buffer): number {
  if (bytes.length < FIXED_HEADER_BYTES) {
    return Infinity;
  }
  const header = FIXED_HEADER_BYTES + bytes.readUInt32LE(12);
  return header + padding(header, 8) + bytes.readUInt32LE(4);
}

function parse(bytes: Buffer): DbusMessage {
  const fieldBytes = bytes.readUInt32LE(12);
  const fields = new Map<number, string>();
  const reader = new DbusReader(
    bytes.subarray(FIXED_HEADER_BYTES, FIXED_HEADER_BYTES + fieldBytes),
  );
  while (!reader.isAtEnd) {
    fields.set(...reader.field());
  }
  return {
    type: bytes.readUInt8(1),
    serial: bytes.readUInt32LE(8),
    member: fields.get(MEMBER_FIELD) ?? '',
    sender: fields.get(SENDER_FIELD) ?? '',
    body: bytes.subarray(bytes.length - bytes.readUInt32LE(4)),
  };
}
