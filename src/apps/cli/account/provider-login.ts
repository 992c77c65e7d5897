import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoginAnswer } from '../../../packages/client/api/api-client-answers.js';
import { GatehouseClient } from '../../../packages/client/api/api-client.js';
import { GatehouseProblem } from '../../../packages/client/api/problem.js';
import type { DeviceKey } from '../../../packages/client/crypto/device-key.js';
import { type LoginProof, makeLoginProof } from '../../../packages/client/crypto/login-proof.js';
import { returnErrorMessage } from '../../../packages/client/return-errors.js';
import { loopbackCode } from '../../../core/protocol/loopback-code.js';
import type { CliContext } from '../command.js';
import { CliError, EXIT, refusedError } from '../cli-error.js';
import { loginClient, withAccount } from './key-login.js';
import { serverFetch } from '../server-fetch.js';
import type { ServerStore } from './server-store.js';
import { isLoopbackHost } from '../../../core/policy/flow/return-address.js';

/** The server's lifetime of a pending login. */
const WAIT_MS = 10 * 60_000;

interface ProviderLogin {
  readonly server: string;
  readonly provider: string;
  readonly store: ServerStore;
  readonly isSignUp: boolean;
}

type Context = CliContext<{ readonly keyless?: boolean; readonly browser?: boolean }>;

/** The browser authenticates; the secret stays in this process. */
export async function logInWithProvider(
  context: Context,
  login: ProviderLogin,
): Promise<LoginAnswer> {
  const { options } = context;
  const key = options.keyless === true ? null : await keyFor(login);
  const proof = await makeLoginProof();
  const listener = await listenForReturn(`/oauth/${login.provider}`);
  try {
    const url = await begin(context, login, proof, listener.port);
    invite(context, url);
    const pending = await pendingFrom(listener, login.provider);
    return await finish(login, { pending, proof: proof.proof }, key);
  } finally {
    listener.close();
  }
}

async function begin(
  { options }: Context,
  { server, provider }: ProviderLogin,
  { proofHash }: LoginProof,
  port: number,
): Promise<URL> {
  const mode = options.keyless === true ? 'keyless' : 'keyed';
  const { external } = new GatehouseClient({ serverUrl: server, fetch: serverFetch });
  try {
    const start = { mode, proofHash, loopbackPort: port } as const;
    return readBrowserAddress(await external.start(provider, start));
  } catch (error) {
    throw isLoopbackOff(error)
      ? refusedError(
          'This server does not let a browser return to a program on the computer.',
          'loopback-return-disabled',
          `Sign in with a code instead: gatehouse login --server ${server} --code`,
        )
      : error;
  }
}

/** Returns true if the operator disabled AUTH_LOOPBACK_RETURN_ENABLED. */
function isLoopbackOff(error: unknown): boolean {
  const isAbout = ({ path }: { readonly path: string }): boolean => path === 'loopbackPort';
  return error instanceof GatehouseProblem && error.details?.some(isAbout) === true;
}

function invite({ options, output }: Context, url: URL): void {
  output.note(`Open this address in a browser on this machine:\n\n  ${url.href}\n`);
  const code = loopbackCode(url.searchParams.get('state') ?? '');
  output.note(`Continue there only if the page of the server shows this code: ${code}`);
  if (options.browser !== false && process.stderr.isTTY) {
    openBrowser(url);
  }
  output.note('No browser on this machine? Cancel, and run: gatehouse login --code');
  output.note('Waiting for the browser to return. Ctrl-C cancels.');
}

async function pendingFrom(listener: LoopbackReturn, provider: string): Promise<string> {
  const answer = await listener.wait(WAIT_MS);
  const pending = answer?.get('pending') ?? null;
  if (pending !== null) {
    return pending;
  }
  const error = answer === null ? 'timeout' : (answer.get('error') ?? 'invalid_return');
  const message =
    answer === null ? 'The browser did not return in time.' : returnErrorMessage(error);
  throw new CliError(message, {
    exitCode: EXIT.refused,
    code: error.replaceAll('_', '-'),
    hint: 'Begin again: gatehouse login --provider <id>',
    provider,
    accountId: answer?.get('account') ?? undefined,
    reason: answer?.get('reason') ?? undefined,
  });
}

/** Resolved before the browser opens, so that a missing key ends the command at once. */
function keyFor({ server, store, isSignUp }: ProviderLogin): Promise<DeviceKey> {
  return isSignUp ? store.requireNewDeviceKey(server) : store.requireDeviceKey(server);
}

async function finish(
  { server, provider, store, isSignUp: create }: ProviderLogin,
  proven: { readonly pending: string; readonly proof: string },
  key: DeviceKey | null,
): Promise<LoginAnswer> {
  const { external } = await loginClient(server, store);
  return key === null
    ? external.finishKeyless(provider, proven)
    : withAccount(server, store, () => external.finish(provider, { ...proven, create }, key));
}

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
function openBrowser({ href }: URL): void {
  const [opener = 'xdg-open', ...args] = OPENERS[process.platform] ?? [];
  const child = spawn(opener, [...args, href], { detached: true, stdio: 'ignore' });
  child.on('error', () => undefined);
  child.unref();
}

/** Waits on this machine for the browser to return from a provider (RFC 8252, 7.3). */
interface LoopbackReturn {
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

const LOOPBACK = 'http://127.0.0.1';

async function listenForReturn(path: string): Promise<LoopbackReturn> {
  const server = createServer();
  const arrival = new Promise<URLSearchParams>((arrive) => {
    server.on('request', (request, response) => {
      const { url: target = '/', method } = request;
      // Any page in the browser can send a target that is no address, such as `//`.
      const url = URL.canParse(target, LOOPBACK) ? new URL(target, LOOPBACK) : null;
      if (method !== 'GET' || url?.pathname !== path) {
        answer(response, 404, 'Nothing is here.\n');
        return;
      }
      response.once('close', () => arrive(url.searchParams));
      answer(response, 200, PAGE);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    wait: (timeoutMs) => Promise.race([arrival, sleep(timeoutMs, null, { ref: false })]),
    close: () => {
      server.close();
      // Browsers open connections in advance, which would hold the command for a minute.
      server.closeAllConnections();
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
