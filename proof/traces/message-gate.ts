import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { waitFor } from '../../test/helpers/wait.js';

const ABOUT_ACCESS = 'access-changed';
/** The push of a subscribed channel, in the protocol of Redis. */
const PUSH = '*3\r\n$7\r\nmessage\r\n';

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
    return this.held.reduce(
      (sum, { bytes }) => sum + bytes.toString('latin1').split(ABOUT_ACCESS).length - 1,
      0,
    );
  }

  async untilHeld(count: number): Promise<void> {
    await waitFor('a message about access', () => this.waiting >= count);
  }

  /** @returns the number of messages that were delivered */
  deliver(): number {
    const count = this.waiting;
    this.held.forEach(({ near, bytes }) => near.write(bytes));
    this.held = [];
    return count;
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
    far.on('data', (bytes: Buffer) => {
      const text = bytes.toString('latin1');
      if (text.startsWith(PUSH) && text.includes(ABOUT_ACCESS)) {
        this.held.push({ near, bytes });
      } else {
        near.write(bytes);
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
