#!/usr/bin/env node
import { CommanderError } from 'commander';
import { CliError } from './cli-error.js';
import { EXIT } from './exit-codes.js';
import { toFailure } from './failure.js';
import { Output } from './output.js';
import { buildProgram, type Shell } from './program.js';

const streams = { out: process.stdout, error: process.stderr };
const shell: Shell = { environment: { ...process.env }, streams, exitCode: EXIT.ok };
const args = process.argv.slice(2);

process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  // Whoever reads may stop reading (`| head`): that is no failure. A full disk is.
  if (code !== 'EPIPE') {
    process.stderr.write(`gatehouse: standard output cannot be written (${code}).\n`);
  }
  process.exit(code === 'EPIPE' ? EXIT.ok : EXIT.refused);
});

try {
  await buildProgram(shell).parseAsync(args, { from: 'user' });
} catch (error) {
  shell.exitCode = report(error);
}
// Not process.exit(): a pipe may still hold output.
process.exitCode = shell.exitCode;

function report(error: unknown): number {
  if (error instanceof CommanderError && error.exitCode === 0) {
    return EXIT.ok;
  }
  if (error instanceof CommanderError && error.code === 'commander.help') {
    return EXIT.usage;
  }
  const failure = toFailure(error instanceof CommanderError ? misuse(error) : error);
  new Output(streams, args.includes('--json')).failure(failure);
  return failure.exitCode;
}

function misuse({ message }: CommanderError): CliError {
  return new CliError(message.replace(/^error: /, ''), {
    exitCode: EXIT.usage,
    code: 'usage',
    hint: 'Run: gatehouse --help',
  });
}
