import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { waitFor } from '../../test/helpers/wait.js';

const ABOUT_ACCESS = 'access-changed';
/** The push of a subscribed channel, in the protocol of Redis. */
const PUSH = '>3\r\n$7\r\nmessage\r\n';

interface Held {
  readonly near: Socket;
  readonly bytes: Buffer;
}

/**
 * A port of 127.0.0.1 in front of Redis. It holds the messages about access back until they are
 * delivered or dropped, and forwards everything else.
 */
export class MessageGate {
  private readonly sockets = new Set<Socket>();
  private held: Held[] = [];
  private readonly server = createServer((near) =>
    this.join(near, connect(this.target, '127.0.0.1')),
  );

  private constructor(private readonly target: number) {}

  static async start(target: number): Promise<MessageGate> {
    const gate = new MessageGate(target);
    await new Promise<void>((done) => gate.server.listen(0, '127.0.0.1', done));
    return gate;
  }

  /** The address with the port of this gate. */
  urlFor(url: string): string {
    const own = new URL(url);
    own.port = String((this.server.address() as AddressInfo).port);
    return own.href;
  }

  get waiting(): number {
    return this.held.length;
  }

  async untilHeld(count: number): Promise<void> {
    await waitFor('a message about access', () => this.waiting >= count);
  }

  holds(text: string): boolean {
    return this.held.some(({ bytes }) => bytes.includes(text));
  }

  /** @param again true if they are delivered a second time later */
  deliver({ again }: { readonly again: boolean }): void {
    this.held.forEach(({ near, bytes }) => near.write(bytes));
    this.held = again ? this.held : [];
  }

  /** Loses the messages, as Redis does when a connection fails. */
  drop(): void {
    this.held = [];
  }

  close(): void {
    this.server.close();
    this.sockets.forEach((socket) => socket.destroy());
  }

  private join(near: Socket, far: Socket): void {
    near.pipe(far);
    let rest = Buffer.alloc(0);
    far.on('data', (bytes: Buffer) => {
      rest = Buffer.concat([rest, bytes]);
      for (let end = frameEnd(rest, 0); end > 0; end = frameEnd(rest, 0)) {
        const frame = rest.subarray(0, end);
        rest = rest.subarray(end);
        if (frame.indexOf(PUSH) === 0 && frame.includes(ABOUT_ACCESS)) {
          this.held.push({ near, bytes: frame });
        } else {
          near.write(frame);
        }
      }
    });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.sockets.delete(one);
        other.destroy();
      });
    }
  }
}

/** Returns the end of the first reply in version 3 of the protocol of Redis (RESP); -1 while it is not whole. */
function frameEnd(bytes: Buffer, start: number): number {
  const line = bytes.indexOf('\r\n', start);
  if (line < 0) {
    return -1;
  }
  const next = line + 2;
  const count = Number(bytes.toString('latin1', start + 1, line));
  switch (String.fromCharCode(bytes[start] ?? 0)) {
    case '$': {
      const end = count < 0 ? next : next + count + 2;
      return end <= bytes.length ? end : -1;
    }
    case '*':
    case '>':
    case '%': {
      // A map has two replies for each entry.
      const replies = bytes[start] === '%'.charCodeAt(0) ? 2 * count : count;
      let end = next;
      for (let index = 0; index < replies && end > 0; index += 1) {
        end = frameEnd(bytes, end);
      }
      return end;
    }
    default:
      return next;
  }
}
