import { once } from 'node:events';
import {
  createServer,
  type ClientRequest,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { text } from 'node:stream/consumers';

export interface LocalRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

export interface LocalServer {
  readonly url: string;
  close(): Promise<void>;
}

export type Fault =
  | 'unauthorized'
  | 'forbidden'
  | 'suspended'
  | 'not-found'
  | 'redirect'
  | 'rate-limited'
  | 'server-error'
  | 'html'
  | 'silence'
  | 'slow-body'
  | 'huge-body';

export type Answer = { readonly status: number; readonly json?: unknown } & {
  readonly headers?: Readonly<Record<string, string>>;
};

const FAULT_ANSWERS: Partial<Record<Fault, Answer>> = {
  unauthorized: { status: 401, json: { message: 'Bad credentials' } },
  forbidden: { status: 403, json: { message: 'Resource not accessible' } },
  suspended: { status: 403, json: { message: 'Sorry. Your account was suspended.' } },
  'not-found': { status: 404, json: { message: 'Not Found' } },
  redirect: { status: 302, headers: { location: '/somewhere-else' } },
  'server-error': { status: 500, json: { message: 'Oops' } },
};

/** A client on a slow machine could send its next request as the server closes a connection. */
export const KEPT_OPEN = { keepAliveTimeout: 0 };

/** Listens on a free port and returns it. */
export async function listen(server: Server, address = '127.0.0.1'): Promise<number> {
  await once(server.listen(0, address), 'listening');
  return (server.address() as AddressInfo).port;
}

/** Closes a server and its open connections. */
export function closeServer(server: HttpServer): Promise<void> {
  return new Promise((done) => {
    server.close(() => done());
    server.closeAllConnections();
  });
}

/** Ends a request and reads its answer. */
export async function answerTo(sent: ClientRequest, body?: Buffer | string) {
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, answer, text: await text(answer) };
}

/** TLS for a fake: its certificate and its name. */
export interface LocalTls {
  readonly name: string;
  readonly cert: string;
  readonly key: string;
}

export async function startLocalServer(
  handle: (request: LocalRequest) => Promise<Answer | Fault> | Answer | Fault,
  tls?: LocalTls,
): Promise<LocalServer> {
  const listener = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    receive(incoming)
      .then(handle)
      .then((answer) => send(outgoing, answer))
      .catch((error: unknown) => send(outgoing, { status: 599, json: { error: String(error) } }));
  };
  const server =
    tls === undefined
      ? createServer(KEPT_OPEN, listener)
      : createTlsServer({ ...KEPT_OPEN, cert: tls.cert, key: tls.key }, listener);
  const port = await listen(server);
  return {
    url: tls === undefined ? `http://127.0.0.1:${port}` : `https://${tls.name}:${port}`,
    close: () => closeServer(server),
  };
}

async function receive(incoming: IncomingMessage): Promise<LocalRequest> {
  return {
    method: incoming.method ?? 'GET',
    url: new URL(incoming.url ?? '/', `http://${incoming.headers.host}`),
    headers: incoming.headers as Record<string, string | undefined>,
    body: await text(incoming),
  };
}

function send(outgoing: ServerResponse, answer: Answer | Fault): void {
  if (typeof answer === 'string') {
    sendFault(outgoing, answer);
    return;
  }
  outgoing.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
  outgoing.end(answer.json === undefined ? undefined : JSON.stringify(answer.json));
}

function sendFault(outgoing: ServerResponse, fault: Fault): void {
  const canned = FAULT_ANSWERS[fault];
  if (canned !== undefined) {
    send(outgoing, canned);
  } else if (fault === 'rate-limited') {
    const reset = Math.ceil(Date.now() / 1000) + 120;
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) };
    send(outgoing, { status: 403, headers, json: { message: 'API rate limit exceeded' } });
  } else if (fault === 'html') {
    outgoing.writeHead(200, { 'content-type': 'text/html' });
    outgoing.end('<html><body>Sign in to the hotel network</body></html>');
  } else if (fault === 'slow-body') {
    // The body has one byte and no end, so only a limit on the whole answer ends it.
    outgoing.writeHead(200, { 'content-type': 'application/json' });
    outgoing.write('{');
  } else if (fault === 'huge-body') {
    outgoing.writeHead(200, { 'content-type': 'application/json' });
    outgoing.end(JSON.stringify({ padding: 'x'.repeat(2 * 1024 * 1024) }));
  }
}
