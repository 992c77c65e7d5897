import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { listen } from './local-server.js';

/** A port of 127.0.0.1 that forwards to another one, and can be redirected or cut. */
export class TcpProxy {
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  private constructor(private target: number) {
    this.server = createServer((near) => this.join(near, connect(this.target, '127.0.0.1')));
  }

  static async start(target: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
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
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.sockets.delete(one);
        other.destroy();
      });
    }
  }
}
