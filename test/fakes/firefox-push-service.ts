import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';

interface FirefoxMessage {
  readonly messageType?: string;
  readonly channelID?: string;
}

/** The push service of Firefox, as the browser sees it: autopush, a protocol over a WebSocket. */
export class FakeFirefoxPushService {
  private browser: WebSocket | null = null;

  private constructor(private readonly sockets: WebSocketServer) {
    sockets.on('connection', (socket) => {
      this.browser = socket;
      socket.on('message', (data) => {
        answer(socket, JSON.parse(data.toString()) as FirefoxMessage);
      });
    });
  }

  static async start(): Promise<FakeFirefoxPushService> {
    const sockets = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await once(sockets, 'listening');
    return new FakeFirefoxPushService(sockets);
  }

  /** Preferences of a Firefox that uses this service and may show notifications. */
  get preferences() {
    const { port } = this.sockets.address() as AddressInfo;
    return {
      'dom.push.serverURL': `ws://127.0.0.1:${port}/`,
      'dom.push.connection.enabled': true,
      'dom.push.testing.allowInsecureServerURL': true,
      'permissions.default.desktop-notification': 1,
      'alerts.useSystemBackend': false,
    };
  }

  /** @param body an encrypted message, of content coding `aes128gcm` */
  deliver(endpoint: string, body: Buffer): void {
    const message = {
      messageType: 'notification',
      channelID: endpoint.slice(endpoint.lastIndexOf('/') + 1),
      version: randomUUID(),
      data: body.toString('base64url'),
      headers: { encoding: 'aes128gcm' },
    };
    this.browser?.send(JSON.stringify(message));
  }

  async close(): Promise<void> {
    this.browser?.terminate();
    this.sockets.close();
    await once(this.sockets, 'close');
  }
}

function answer(socket: WebSocket, { messageType, channelID }: FirefoxMessage): void {
  const send = (fields: object): void =>
    socket.send(JSON.stringify({ messageType, status: 200, ...fields }));
  if (messageType === 'hello') {
    send({ uaid: randomUUID(), use_webpush: true, broadcasts: {} });
  } else if (messageType === 'register') {
    send({ channelID, pushEndpoint: `https://push.example/${channelID}` });
  } else if (messageType === 'unregister') {
    send({ channelID });
  }
}
