import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Waits on this machine for the browser that comes back from a provider (RFC 8252, 7.3). */
export interface LoopbackReturn {
  readonly port: number;
  /** What the address brought; null when the browser did not come in time. */
  wait(timeoutMs: number): Promise<URLSearchParams | null>;
  close(): void;
}

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Gatehouse</title>
<style>
  body { font: 1.125rem/1.5 system-ui, sans-serif; margin: 20vh auto; max-width: 30rem; padding: 0 1.5rem; }
</style>
<h1>You can close this page.</h1>
<p>The login goes on in the terminal where it began.</p>
`;

/** Listens on a free port of 127.0.0.1 for `path`, and for nothing else. */
export async function listenForReturn(path: string): Promise<LoopbackReturn> {
  let arrive: (query: URLSearchParams) => void = () => undefined;
  const arrival = new Promise<URLSearchParams>((resolve) => {
    arrive = resolve;
  });
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (request.method !== 'GET' || url.pathname !== path) {
      answer(response, 404, 'Nothing is here.\n');
      return;
    }
    answer(response, 200, PAGE);
    arrive(url.searchParams);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    wait: (timeoutMs) => withTimeout(arrival, timeoutMs),
    close: () => closeNow(server),
  };
}

function answer(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {
    'content-type': status === 200 ? 'text/html; charset=utf-8' : 'text/plain; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(body);
}

async function withTimeout<Value>(value: Promise<Value>, ms: number): Promise<Value | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  return Promise.race([value, late]).finally(() => clearTimeout(timer));
}

function closeNow(server: Server): void {
  server.close();
  server.closeIdleConnections();
}
