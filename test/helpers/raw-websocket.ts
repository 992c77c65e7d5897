import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Answer } from './client.js';

const HANDSHAKE = '/v1/updates/?EIO=4&transport=websocket';
const TEXT = 1;
const CLOSE = 8;
const LENGTH_16 = 126;

interface Handshake {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Requests a WebSocket, and returns the connection or the answer that refuses it. */
export async function upgrade(
  { port }: { readonly port: number },
  { path = HANDSHAKE, headers = {} }: Handshake = {},
): Promise<RawWebSocket | Answer> {
  const asking = request({
    port,
    path,
    host: '127.0.0.1',
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      ...headers,
    },
  }).end();
  return new Promise((resolve, reject) => {
    asking.once('error', reject);
    asking.once('upgrade', (_answer, socket, head) => resolve(new RawWebSocket(socket, head)));
    asking.once('response', (answer) => void readAnswer(answer).then(resolve, reject));
  });
}

/** Opens a WebSocket that must be accepted. */
export async function openWebSocket(
  target: { readonly port: number },
  headers: Readonly<Record<string, string>> = {},
): Promise<RawWebSocket> {
  const opened = await upgrade(target, { headers });
  if (!(opened instanceof RawWebSocket)) {
    throw new Error(`The upgrade was refused: ${opened.text}`);
  }
  return opened;
}

/** Expects a refused WebSocket, and resolves when its connection is closed. */
export async function refusedUpgrade(
  target: { readonly port: number },
  handshake: Handshake = {},
): Promise<Answer> {
  const answer = await upgrade(target, handshake);
  if (answer instanceof RawWebSocket) {
    answer.destroy();
    throw new Error('The upgrade was accepted');
  }
  return answer;
}

async function readAnswer(answer: IncomingMessage): Promise<Answer> {
  let text = '';
  answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const closed = answer.socket.destroyed || once(answer.socket, 'close');
  await once(answer, 'end');
  await closed;
  const { statusCode = 0, headers } = answer;
  const isJson = headers['content-type']?.startsWith('application/json') === true;
  return { status: statusCode, headers, text, body: isJson ? JSON.parse(text) : null };
}

/** A WebSocket whose frames (RFC 6455, 5.2) are written by hand, and which reads on demand. */
export class RawWebSocket {
  /** The received text messages. */
  readonly texts: string[] = [];
  /** True if the server sent a close frame; false if it cut the connection. */
  isClosedInOrder = false;
  readonly closed: Promise<void>;
  private pending: Buffer;
  private waiters: (() => void)[] = [];

  constructor(
    private readonly socket: Socket,
    head: Buffer,
  ) {
    this.pending = head;
    this.closed = new Promise((done) => {
      socket.once('close', () => {
        done();
        this.wake();
      });
    });
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      this.pending = Buffer.concat([this.pending, chunk]);
      this.readFrames();
    });
    this.readFrames();
  }

  get isOpen(): boolean {
    return !this.socket.destroyed && !this.isClosedInOrder;
  }

  /** Rejects when the connection closes before a message with this beginning. */
  async message(beginning: string): Promise<string> {
    for (;;) {
      const found = this.texts.find((text) => text.startsWith(beginning));
      if (found !== undefined) {
        return found;
      }
      if (this.socket.destroyed) {
        throw new Error(`Closed without ${beginning}: ${this.texts.join(' ')}`);
      }
      await new Promise<void>((done) => this.waiters.push(done));
    }
  }

  /** Connects to the namespace `/` and waits until it is joined. */
  async join(token: string): Promise<void> {
    this.send(`40${JSON.stringify({ token })}`);
    await this.message('42["hello"');
  }

  send(...texts: readonly string[]): void {
    this.socket.write(Buffer.concat(texts.map((text) => frame(TEXT, Buffer.from(text)))));
  }

  /** Writes the frames, and waits until they have left or the connection is gone. */
  async flood(opcode: number, payload: string, count: number): Promise<void> {
    const frames = Buffer.concat(Array<Buffer>(count).fill(frame(opcode, Buffer.from(payload))));
    if (!this.socket.write(frames)) {
      const drained = new Promise<void>((done) => this.socket.once('drain', done));
      await Promise.race([drained, this.closed]);
    }
  }

  stopReading(): void {
    this.socket.pause();
  }

  destroy(): void {
    this.socket.destroy();
  }

  private readFrames(): void {
    for (let size = frameSize(this.pending); size !== null; size = frameSize(this.pending)) {
      const opcode = (this.pending[0] ?? 0) & 0x0f;
      const payload = this.pending.subarray(size.start, size.end);
      if (opcode === TEXT) {
        this.texts.push(payload.toString());
      } else if (opcode === CLOSE) {
        this.isClosedInOrder = true;
        this.socket.end(frame(CLOSE, payload));
      }
      this.pending = this.pending.subarray(size.end);
    }
    this.wake();
  }

  private wake(): void {
    this.waiters.splice(0).forEach((done) => done());
  }
}

/** Returns a whole message of a client. The mask is zero, which leaves the payload unchanged. */
function frame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const size = length < LENGTH_16 ? [0x80 | length] : [0x80 | LENGTH_16, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([0x80 | opcode, ...size, 0, 0, 0, 0]), payload]);
}

/** Returns the position of the payload of the first frame, or null if it has not arrived. */
function frameSize(bytes: Buffer): { readonly start: number; readonly end: number } | null {
  const isLong = bytes[1] === LENGTH_16;
  const start = isLong ? 4 : 2;
  if (bytes.length < start) {
    return null;
  }
  const end = start + (isLong ? bytes.readUInt16BE(2) : (bytes[1] ?? 0));
  return bytes.length < end ? null : { start, end };
}
