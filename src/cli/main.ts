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
  // A reader may stop early (`| head`): that is no failure. A full disk is.
  if (code !== 'EPIPE') {
    process.stderr.write(`gatehouse: standard output cannot be written (${code}).\n`);
  }
  process.exit(code === 'EPIPE' ? EXIT.ok : EXIT.refused);
});

const PROXIES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY'];

// A command that waits for what never comes leaves this code behind.
process.exitCode = EXIT.refused;
void main();

async function main(): Promise<void> {
  try {
    if (PROXIES.some((name) => shell.environment[name])) {
      // Node's own fetch knows these variables from version 24 on.
      const { EnvHttpProxyAgent, install, setGlobalDispatcher } =
        await import('../common/network/http-client.js');
      setGlobalDispatcher(new EnvHttpProxyAgent({ proxyTunnel: false }));
      install();
      useGlobalFetch();
    }
    await buildProgram(shell).parseAsync(args, { from: 'user' });
  } catch (error) {
    shell.exitCode = await report(error);
  }
  // Not process.exit(): a pipe may still hold output.
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
  const failure = toFailure(error, Boolean(shell.environment['GATEHOUSE_TOKEN']));
  new Output(streams, args.includes('--json')).failure(failure);
  return failure.exitCode;
}
