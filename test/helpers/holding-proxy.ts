import {
  createServer,
  request as send,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';
import { closeServer, KEPT_OPEN, listen } from './local-server.js';

/** The moment at which a call is held: before the server has it, or before its caller has the answer. */
export type HeldAt = 'request' | 'answer';

/** A call that does not go on by itself. */
export interface HeldCall {
  release(): void;
  /** Ends the connection of the caller, as a killed server does. */
  drop(): void;
}

interface Trap {
  /** Matches the method, a space, and the path with its query. */
  readonly call: RegExp;
  readonly at: HeldAt;
  readonly spring: (held: HeldCall) => void;
}

/** A reverse proxy that holds chosen calls, so that a test can kill either side at that moment. */
export class HoldingProxy {
  private trap: Trap | null = null;
  private readonly server = createServer(KEPT_OPEN, (request, response) => {
    this.forward(request, response).catch(() => response.destroy());
  });

  private constructor(private readonly target: string) {}

  static async start(target: { readonly url: string }): Promise<HoldingProxy> {
    const proxy = new HoldingProxy(target.url);
    await listen(proxy.server);
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Resolves when the next call of this form is held. */
  hold(call: RegExp, at: HeldAt): Promise<HeldCall> {
    return new Promise((spring) => (this.trap = { call, at, spring }));
  }

  close(): Promise<void> {
    return closeServer(this.server);
  }

  private async forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, headers, url = '/' } = request;
    const body = await buffer(request);
    const call = `${method} ${url}`;
    await this.held(call, 'request');
    if (response.destroyed) {
      return;
    }
    const answer = await new Promise<IncomingMessage>((done, fail) => {
      const onward = send(new URL(url, this.target), { method, headers, agent: false }, done);
      onward.on('error', fail);
      response.on('close', () => onward.destroy());
      onward.end(body);
    });
    const content = await buffer(answer);
    await this.held(call, 'answer');
    response.writeHead(answer.statusCode ?? 502, answer.headers).end(content);
  }

  private held(call: string, at: HeldAt): Promise<void> | undefined {
    const { trap } = this;
    if (trap === null || trap.at !== at || !trap.call.test(call)) {
      return undefined;
    }
    this.trap = null;
    return new Promise((release, fail) => {
      trap.spring({ release, drop: () => fail(new Error('dropped')) });
    });
  }
}
