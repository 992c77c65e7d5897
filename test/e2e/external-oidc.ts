import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../helpers/service-process.js';

const MAIN = fileURLToPath(new URL('../fakes/interactive-provider.mjs', import.meta.url));

/** A real OpenID Provider with one client. */
export interface Oidc {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Ends it; it can be {@link Oidc.start}ed again, at the same address. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** From now on the person is in these groups. */
  setGroups(login: string, groups: readonly string[]): Promise<void>;
}

/** Starts the provider. The process never outlives this one. */
export async function startOidc(redirectUris: readonly string[]): Promise<Oidc> {
  const port = await freePort();
  const clientId = 'gatehouse';
  const clientSecret = randomBytes(32).toString('base64url');
  const args = [MAIN, String(port), clientId, clientSecret, ...redirectUris];
  let running = await launch(args);
  return {
    issuer: `http://127.0.0.1:${port}`,
    clientId,
    clientSecret,
    stop: () => running.end(),
    start: async () => {
      running = await launch(args);
    },
    setGroups: (login, groups) => running.send(JSON.stringify({ login, groups })),
  };
}

interface Running {
  /** Sends a line and waits until it is known. */
  send(line: string): Promise<void>;
  end(): Promise<void>;
}

async function launch(args: readonly string[]): Promise<Running> {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const killOnExit = (): void => void child.kill('SIGKILL');
  process.once('exit', killOnExit);
  const exited = once(child, 'exit');
  const ready = once(child.stdout, 'data');
  await Promise.race([
    ready,
    exited.then(() => Promise.reject(new Error('oidc-provider did not start'))),
  ]);
  return {
    send: async (line) => {
      const known = once(child.stdout, 'data');
      child.stdin.write(`${line}\n`);
      await known;
    },
    end: async () => {
      process.removeListener('exit', killOnExit);
      child.kill('SIGKILL');
      await exited;
    },
  };
}
