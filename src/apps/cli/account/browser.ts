import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLoopbackHost } from '../../../core/policy/flow/return-address.js';
import { refusedError } from '../cli-error.js';

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/**
 * Only https passes, and http on loopback: the system's opener starts programs for `vscode:`, reads
 * files for `file:` and takes `--version` as an option.
 * @throws CliError `unsafe-address`
 */
export function readBrowserAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isWeb =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.hostname));
  if (url === null || !isWeb || url.username !== '' || url.password !== '') {
    // The message omits the address, which could hold control characters for the terminal.
    throw refusedError(
      'The server named an address that is not safe to open: it must be https, or http on this machine.',
      'unsafe-address',
      'Check the address of the server, and report this to its operator.',
    );
  }
  return url;
}

/** Opens the address if this desktop has a browser. The caller prints it in any case. */
export function openBrowser({ href }: URL): void {
  const [opener = 'xdg-open', ...args] = OPENERS[process.platform] ?? [];
  const child = spawn(opener, [...args, href], { detached: true, stdio: 'ignore' });
  child.on('error', () => undefined);
  child.unref();
}

/** Waits on this machine for the browser to return from a provider (RFC 8252, 7.3). */
export interface LoopbackReturn {
  readonly port: number;
  /** Resolves with the query of the return address, or null after the timeout. */
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
<p>The login continues in the terminal where it began.</p>
`;

export async function listenForReturn(path: string): Promise<LoopbackReturn> {
  const server = createServer();
  const arrival = new Promise<URLSearchParams>((arrive) => {
    server.on('request', (request, response) => {
      const url = new URL(request.url ?? '/', 'http://127.0.0.1');
      if (request.method !== 'GET' || url.pathname !== path) {
        answer(response, 404, 'Nothing is here.\n');
        return;
      }
      answer(response, 200, PAGE);
      arrive(url.searchParams);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    wait: (timeoutMs) => Promise.race([arrival, sleep(timeoutMs, null, { ref: false })]),
    close: () => {
      server.close();
      server.closeIdleConnections();
    },
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
