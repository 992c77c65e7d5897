import type { Command } from 'commander';
import { buildProgram } from './program.js';

const PROGRAM = buildProgram({
  environment: {},
  streams: { out: process.stdout, error: process.stderr },
  exitCode: 0,
});

/** Returns the command and all below it, with their names as they are typed. */
function pagesOf(command: Command, parent = ''): (readonly [string, Command])[] {
  const name = `${parent}${command.name()}`;
  return [[name, command], ...command.commands.flatMap((one) => pagesOf(one, `${name} `))];
}

function helpOf(command: Command): string {
  const written: string[] = [];
  command.configureOutput({ writeOut: (text) => void written.push(text) }).outputHelp();
  return written.join('');
}

describe(buildProgram, () => {
  it.each(pagesOf(PROGRAM))('shows an example of `%s`', (name, command) => {
    const [, examples = ''] = helpOf(command).split('\nExamples:\n');
    expect(examples).toMatch(new RegExp(`^  \\$ .*\\b${name}\\b`));
  });
});
