import { spawn } from 'node:child_process';
import { isLoopbackHost } from '../policy/return-address.js';
import { CliError } from './cli-error.js';
import { EXIT } from './exit-codes.js';

const COMMANDS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/**
 * Reads an address that a server named and a browser is to open. The system's opener starts a program
 * for `vscode:`, reads files for `file:` and takes `--version` for an option. So only https passes, and
 * http on a loopback host, both without a user name or password.
 *
 * @throws CliError `unsafe-address` (exit code 1) for any other address
 */
export function readBrowserAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isWeb =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.hostname));
  if (url === null || !isWeb || url.username !== '' || url.password !== '') {
    // Without the address: it could hold control characters for the terminal.
    throw new CliError(
      'The server named an address that is not safe to open: it must be https, or http on this machine.',
      {
        exitCode: EXIT.refused,
        code: 'unsafe-address',
        hint: 'Check the address of the server, and report this to its operator.',
      },
    );
  }
  return url;
}

/** Opens the address where this desktop has a browser. The caller prints it in any case. */
export function openBrowser({ href }: URL): void {
  const [command = 'xdg-open', ...args] = COMMANDS[process.platform] ?? ['xdg-open'];
  const child = spawn(command, [...args, href], { detached: true, stdio: 'ignore' });
  child.on('error', () => undefined);
  child.unref();
}
