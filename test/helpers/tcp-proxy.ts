import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { listen } from './local-server.js';

/** A port of 127.0.0.1 that forwards to another one, and can be redirected or cut. */
export class TcpProxy {
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  private constructor(
    private target: number,
    private readonly edit: (chunk: Buffer) => Buffer,
    private readonly watch: (chunk: Buffer, connection: Socket) => void,
  ) {
    this.server = createServer((near) => this.join(near, connect(this.target, '127.0.0.1')));
  }

  /**
   * @param edit returns what arrives in place of a chunk that the target sends; default: the chunk
   * @param watch sees each chunk for the target
   */
  static async start(
    target: number,
    edit: (chunk: Buffer) => Buffer = (chunk) => chunk,
    watch: (chunk: Buffer, connection: Socket) => void = () => undefined,
  ): Promise<TcpProxy> {
    const proxy = new TcpProxy(target, edit, watch);
    await listen(proxy.server);
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** The address with the port of this proxy. */
  urlFor(url: string): string {
    const own = new URL(url);
    own.port = String(this.port);
    return own.href;
  }

  /** Changes the target of new connections. Open ones remain. */
  leadTo(target: number): void {
    this.target = target;
  }

  cut(): void {
    this.sockets.forEach((socket) => socket.resetAndDestroy());
  }

  close(): void {
    this.server.close();
    this.cut();
  }

  private join(near: Socket, far: Socket): void {
    near.on('data', (chunk: Buffer) => this.watch(chunk, near));
    near.pipe(far);
    far
      .pipe(new Transform({ transform: (chunk: Buffer, _, done) => done(null, this.edit(chunk)) }))
      .pipe(near);
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
