#!/usr/bin/env node
import { CommanderError } from 'commander';
import { EXIT } from './cli-error.js';
import { Output } from './output.js';
import { buildProgram, type Shell } from './program.js';
import { useGlobalFetch } from './server-fetch.js';

const streams = { out: process.stdout, error: process.stderr };
const shell: Shell = { environment: { ...process.env }, streams, exitCode: EXIT.ok };
const args = process.argv.slice(2);

process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  // A reader that closes the pipe early (`| head`) does not cause a failure. A full disk does.
  if (code !== 'EPIPE') {
    process.stderr.write(`gatehouse: standard output cannot be written (${code}).\n`);
  }
  process.exit(code === 'EPIPE' ? EXIT.ok : EXIT.refused);
});

const PROXIES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY'];

// The exit code of a command that waits for an event that never occurs.
process.exitCode = EXIT.refused;
void main();

async function main(): Promise<void> {
  try {
    if (PROXIES.some((name) => shell.environment[name])) {
      // Node's own fetch knows these variables from version 24 on.
      const { EnvHttpProxyAgent, install, setGlobalDispatcher } = await import('undici');
      setGlobalDispatcher(new EnvHttpProxyAgent({ proxyTunnel: false }));
      install();
      useGlobalFetch();
    }
    await buildProgram(shell, args[0]).parseAsync(args, { from: 'user' });
  } catch (error) {
    shell.exitCode = await report(error);
  }
  // No process.exit(): a pipe may still hold output.
  process.exitCode = shell.exitCode;
}

async function report(error: unknown): Promise<number> {
  if (error instanceof CommanderError && error.exitCode === 0) {
    return EXIT.ok;
  }
  if (error instanceof CommanderError && error.code === 'commander.help') {
    return EXIT.usage;
  }
  const { toFailure } = await import('./failure.js');
  const isTokenGiven = Boolean(shell.environment['GATEHOUSE_TOKEN']);
  const failure = toFailure(error, { isTokenGiven, server: shell.server });
  new Output(streams, args.includes('--json')).failure(failure);
  return failure.exitCode;
}
