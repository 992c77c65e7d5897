import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { closeServer, KEPT_OPEN, listen } from '../helpers/local-server.js';

export interface ReceivedWebhook {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawBody: Buffer;
}

export type ReceiverAnswer =
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  | 'silence'
  | 'cut'
  | 'endless-body'
  | 'no-http';

export type ReceiverBehaviour = (
  request: ReceivedWebhook,
  count: number,
) => ReceiverAnswer | Promise<ReceiverAnswer>;

/** A webhook endpoint on a loopback port: it stores requests and answers as configured. */
export class WebhookReceiver {
  readonly received: ReceivedWebhook[] = [];
  written = 0;
  /** Resolves once the client stops to read an endless body. */
  readonly bodyRefused: Promise<void>;
  port = 0;
  private refuseBody: () => void = () => undefined;
  private readonly server;

  private constructor(
    private readonly behave: ReceiverBehaviour,
    private readonly tls: { readonly cert: string; readonly key: string } | null,
  ) {
    this.bodyRefused = new Promise((done) => (this.refuseBody = done));
    const answer = (request: IncomingMessage, response: ServerResponse) =>
      void this.answer(request, response);
    this.server =
      tls === null
        ? createServer(KEPT_OPEN, answer)
        : createTlsServer({ ...KEPT_OPEN, ...tls }, answer);
  }

  /** @param tls for https */
  static async start(
    behave: ReceiverBehaviour = () => ({ status: 204 }),
    tls: { readonly cert: string; readonly key: string } | null = null,
  ): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver(behave, tls);
    receiver.port = await listen(receiver.server);
    return receiver;
  }

  get url(): string {
    return `${this.tls === null ? 'http' : 'https'}://127.0.0.1:${this.port}/hook`;
  }

  get json(): Record<string, unknown> {
    return JSON.parse(this.received.at(-1)?.rawBody.toString() ?? '') as Record<string, unknown>;
  }

  close(): Promise<void> {
    return closeServer(this.server);
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const received = {
      path: request.url ?? '',
      headers: request.headers as ReceivedWebhook['headers'],
      rawBody: await buffer(request),
    };
    this.received.push(received);
    const answer = await this.behave(received, this.received.length);
    if (typeof answer === 'object') {
      response.writeHead(answer.status, answer.headers);
      response.end(answer.body ?? 'thanks');
    } else if (answer === 'cut') {
      response.destroy();
    } else if (answer === 'no-http') {
      request.socket.end('SSH-2.0-OpenSSH_9.6\r\n');
    } else if (answer === 'endless-body') {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.once('close', this.refuseBody);
      this.writeOn(response);
    }
  }

  private writeOn(response: ServerResponse): void {
    const chunk = Buffer.alloc(16 * 1024, 'x');
    while (!response.destroyed && response.write(chunk)) {
      this.written += chunk.length;
    }
    if (!response.destroyed) {
      response.once('drain', () => this.writeOn(response));
    }
  }
}
