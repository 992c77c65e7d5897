#!/usr/bin/env node
import { CommanderError } from 'commander';
import { EXIT } from './cli-error.js';
import { Output } from './output.js';
import { buildProgram, type Shell } from './program.js';
import { useGlobalFetch } from './server-fetch.js';

const unread = new AbortController();
const streams = { out: process.stdout, error: process.stderr, unread: unread.signal };
const shell: Shell = { environment: { ...process.env }, streams, exitCode: EXIT.ok };
const args = process.argv.slice(2);
const [group, subcommand] = args.filter((one) => !one.startsWith('-'));
/** Agents take other exit codes of a hook as a decision: in Codex, 2 denies. */
const isHook = group === 'hook' && subcommand !== 'stats';
let isOutputLost = false;

process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  // A reader that closes the pipe early (`| head`) does not change the exit code. A full disk does.
  if (code !== 'EPIPE' && !unread.signal.aborted) {
    process.stderr.write(`gatehouse: standard output cannot be written (${code}).\n`);
    isOutputLost = true;
  }
  unread.abort();
});
// An error without a listener would end the command with another exit code.
process.stderr.on('error', () => undefined);

process.on('exit', (exitCode) => {
  const isFailed = exitCode !== EXIT.ok || isOutputLost;
  process.exitCode = isFailed && !isHook ? exitCode || EXIT.refused : EXIT.ok;
});

/** These report a proxy that is not valid with all other problems. */
const REPORTS_VARIABLES = ['config', 'doctor', 'serve'];
const PROXIES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY'];

// The exit code of a command that waits for an event that never occurs.
process.exitCode = EXIT.refused;
void main();

async function main(): Promise<void> {
  try {
    const proxies = PROXIES.filter((name) => shell.environment[name]);
    if (proxies.length > 0) {
      await useProxies(proxies);
    }
    await buildProgram(shell).parseAsync(args, { from: 'user' });
  } catch (error) {
    shell.exitCode = await report(error);
  }
  // No process.exit(): a pipe may still hold output.
  process.exitCode = shell.exitCode;
}

async function useProxies(names: readonly string[]): Promise<void> {
  const { EnvHttpProxyAgent, install, ProxyAgent, setGlobalDispatcher } = await import('undici');
  const isUsable = (name: string): boolean => {
    try {
      void new ProxyAgent(shell.environment[name] ?? '');
      return true;
    } catch {
      return false;
    }
  };
  const invalid = names.filter((name) => !isUsable(name));
  if (invalid.length === 0) {
    // Node's own fetch knows these variables from version 24 on.
    setGlobalDispatcher(new EnvHttpProxyAgent({ proxyTunnel: false }));
    install();
    useGlobalFetch();
  } else if (group === undefined || !REPORTS_VARIABLES.includes(group)) {
    const { ConfigurationError } =
      await import('../../server/config/environment/configuration-error.js');
    const message = 'must be a full address that starts with http:// or https://.';
    throw new ConfigurationError(invalid.map((variable) => ({ variable, message })));
  }
}

async function report(error: unknown): Promise<number> {
  if (error instanceof CommanderError && error.exitCode === 0) {
    return EXIT.ok;
  }
  if (error instanceof CommanderError && error.code === 'commander.help') {
    return EXIT.usage;
  }
  const { isRefusalOfPerson, toFailure } = await import('./failure.js');
  const { environment, server } = shell;
  const isTokenGiven = Boolean(environment['GATEHOUSE_TOKEN']);
  let failure = toFailure(error, { isTokenGiven, server });
  if (isRefusalOfPerson(failure)) {
    const { explainRefusal } = await import('./refusal.js');
    const explained = explainRefusal(failure, { environment, options: { server } });
    // A server that describes itself in another form must not hide its refusal.
    failure = await explained.catch(() => failure);
  }
  new Output(streams, args.includes('--json')).failure(failure);
  return failure.exitCode;
}
