import {
  createServer,
  request as send,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { closeServer, KEPT_OPEN, listen } from './local-server.js';

export interface ProxyOptions {
  /** Names that only this proxy resolves, and their addresses; one with a port takes the place of that of the request. */
  readonly hosts?: Readonly<Record<string, string>>;
  /** The address of the listener. Default: 127.0.0.1. */
  readonly address?: string;
  /** A status that answers every request. */
  readonly refuses?: number;
}

export class HttpProxy {
  /** Targets such as `127.0.0.1:80`, in the order of the requests. */
  readonly requests: string[] = [];
  private readonly server = createServer(KEPT_OPEN, (request, response) => {
    this.forward(request, response);
  });

  private constructor(private readonly options: ProxyOptions) {}

  static async start(options: ProxyOptions = {}): Promise<HttpProxy> {
    const proxy = new HttpProxy(options);
    proxy.server.on('connect', (request: IncomingMessage, near: Socket) => {
      const target = request.url ?? '';
      proxy.requests.push(target);
      const { hostname, port } = new URL(`http://${target}`);
      if (options.refuses !== undefined) {
        near.end(`HTTP/1.1 ${options.refuses} Refused\r\n\r\n`);
        return;
      }
      const [address = '', ownPort = port || '443'] = proxy.addressOf(hostname).split(':');
      const far = connect(Number(ownPort), address, () => {
        near.write('HTTP/1.1 200 OK\r\n\r\n');
        far.pipe(near).pipe(far);
      });
      far.on('error', () => undefined);
      // A tunnel that the far side ends first is not read any more, and would not see the end of the near one.
      far.on('close', () => near.destroySoon());
      near.on('error', () => far.destroy());
    });
    await listen(proxy.server, options.address);
    return proxy;
  }

  get url(): string {
    const { address, port } = this.server.address() as AddressInfo;
    return `http://${address}:${port}`;
  }

  close(): Promise<void> {
    return closeServer(this.server);
  }

  private addressOf(name: string): string {
    return this.options.hosts?.[name] ?? name;
  }

  /** A request of the form `POST http://host/path` (RFC 9112, 3.2.2). */
  private forward(request: IncomingMessage, response: ServerResponse): void {
    const { method, headers, url = '' } = request;
    const target = new URL(url);
    this.requests.push(target.host);
    if (this.options.refuses !== undefined) {
      response.writeHead(this.options.refuses).end();
      return;
    }
    target.hostname = this.addressOf(target.hostname);
    const onward = send(target, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.writeHead(502).end());
    request.pipe(onward);
  }
}
