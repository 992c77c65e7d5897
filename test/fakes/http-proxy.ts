import {
  createServer,
  request as send,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { KEPT_OPEN } from './local-server.js';

/** An HTTP proxy on a loopback port, with the hosts that it was asked for. */
export class HttpProxy {
  /** `127.0.0.1:80`, in the order of the requests. */
  readonly asked: string[] = [];
  private readonly server = createServer(KEPT_OPEN, (request, response) => {
    this.forward(request, response);
  });

  static async start(): Promise<HttpProxy> {
    const proxy = new HttpProxy();
    proxy.server.on('connect', (request: IncomingMessage, near: Socket) => {
      const target = request.url ?? '';
      proxy.asked.push(target);
      const { hostname, port } = new URL(`http://${target}`);
      const far = connect(Number(port || 443), hostname, () => {
        near.write('HTTP/1.1 200 OK\r\n\r\n');
        far.pipe(near).pipe(far);
      });
      far.on('error', () => near.destroy());
      near.on('error', () => far.destroy());
    });
    await new Promise<void>((done) => proxy.server.listen(0, '127.0.0.1', done));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    return new Promise((done) => {
      this.server.close(() => done());
      this.server.closeAllConnections();
    });
  }

  /** A request of the form `POST http://host/path` (RFC 9112, 3.2.2). */
  private forward(request: IncomingMessage, response: ServerResponse): void {
    const { method, headers, url = '' } = request;
    this.asked.push(new URL(url).host);
    const onward = send(url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.writeHead(502).end());
    request.pipe(onward);
  }
}
