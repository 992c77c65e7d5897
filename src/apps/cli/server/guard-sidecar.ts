import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { scopesIn } from '../../../core/policy/admission/scopes.js';
import { AccessRefused } from '../../../packages/guard/access-refused.js';
import { bearerOf } from '../../../packages/guard/adapters/credentials.js';
import { answerRefusal } from '../../../packages/guard/adapters/express.js';
import type { Guard } from '../../../packages/guard/guard.js';

const LOOPBACK = /^(localhost|127\.0\.0\.1)(:\d+)?$/i;
/** A reader that is silent for longer than this lost its connection. */
const HEARTBEAT_MS = 5000;
/** A reader that is so far behind is disconnected, and closes what it holds. */
const MAX_BACKLOG_BYTES = 1024 * 1024;

/** Answers a backend in any language on 127.0.0.1. */
export class GuardSidecar {
  private readonly readers = new Set<ServerResponse>();
  private readonly server: Server;
  private readonly stopWatching: () => void;
  private readonly heartbeat: NodeJS.Timeout;

  private constructor(private readonly guard: Guard) {
    this.server = createServer((request, response) => void this.answer(request, response));
    this.stopWatching = guard.watch((ended) =>
      this.write(`event: ended\ndata: ${JSON.stringify(ended)}\n\n`),
    );
    this.heartbeat = setInterval(() => this.write(':\n\n'), HEARTBEAT_MS);
  }

  static async start(guard: Guard, port: number): Promise<GuardSidecar> {
    const sidecar = new GuardSidecar(guard);
    try {
      sidecar.server.listen(port, '127.0.0.1');
      await once(sidecar.server, 'listening');
      return sidecar;
    } catch (error) {
      await sidecar.close();
      throw error;
    }
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Ends the streams: their readers close what they hold. */
  async close(): Promise<void> {
    clearInterval(this.heartbeat);
    this.stopWatching();
    if (this.server.listening) {
      this.server.close();
      this.server.closeAllConnections();
      await once(this.server, 'close');
    }
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A query may contain further question marks.
    const [path, query] = (request.url ?? '').split(/\?(.*)/s);
    // A page in a browser could otherwise read the answers under a name of its own.
    if (!LOOPBACK.test(request.headers.host ?? '')) {
      response.writeHead(403).end();
    } else if (path === '/verify') {
      await this.verify(request, new URLSearchParams(query), response);
    } else if (path === '/ended' && request.method === 'GET') {
      this.stream(response);
    } else if (path === '/health') {
      response.writeHead(this.guard.isReady ? 200 : 503).end();
    } else {
      response.writeHead(404).end();
    }
  }

  /** Admits programs with the scopes of the parameter `scope`; without it none. */
  private async verify(
    request: IncomingMessage,
    query: URLSearchParams,
    response: ServerResponse,
  ): Promise<void> {
    const [scope, ...others] = scopesOfAddress(query, request);
    if (scope !== undefined && (scopesIn(scope) === null || others.length > 0)) {
      answerRefusal(this.guard.refusal('invalid-request'), response);
      return;
    }
    try {
      const access = await this.guard.verify(bearerOf(this.guard, request), { scope });
      response.writeHead(200, {
        'content-type': 'application/json',
        'cache-control': 'no-store',
        'x-gatehouse-account': encodeURIComponent(access.account),
        'x-gatehouse-session': encodeURIComponent(access.sid),
        'x-gatehouse-login': encodeURIComponent(access.login ?? ''),
        'x-gatehouse-program': encodeURIComponent(access.program?.id ?? ''),
      });
      response.end(JSON.stringify(access));
    } catch (error) {
      const isRefusal = error instanceof AccessRefused;
      answerRefusal(isRefusal ? error : this.guard.refusal('unavailable'), response);
    }
  }

  private stream(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write(':\n\n');
    this.readers.add(response);
    response.once('close', () => this.readers.delete(response));
  }

  private write(text: string): void {
    for (const reader of this.readers) {
      reader.write(text);
      if (reader.writableLength > MAX_BACKLOG_BYTES) {
        reader.destroy();
      }
    }
  }
}

/** Caddy's `forward_auth` appends the client's query to an address without one: it admits no program. */
function scopesOfAddress(query: URLSearchParams, { headers }: IncomingMessage): readonly string[] {
  const ofClient = String(headers['x-forwarded-uri'] ?? '').replace(/^[^?]*/, '');
  const scopes = query.getAll('scope');
  return isDeepStrictEqual(scopes, new URLSearchParams(ofClient).getAll('scope')) ? [] : scopes;
}
