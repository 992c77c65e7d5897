import { command, type CommandGroup, type OptionSpec } from '../command.js';

// Not --env-file: Node 20 takes that for itself, also behind the script's name.
const FILE = [
  '--file <file>',
  "read the variables from this file, not from this shell's environment",
] as const satisfies OptionSpec;

/** Examines the server's configuration without starting it. */
export const config: CommandGroup = {
  name: 'config',
  description: 'check or print the configuration',
  commands: [
    command({
      name: 'check',
      description: 'report all mistakes, and describe the policy that the variables result in',
      help: `
Exits with 0 where nothing is an error, with 78 where the server would not start, and with 1 where it
would start and a finding is an error: users are locked out, or what is switched on has no effect.
`,
      options: [FILE],
      examples: ['gatehouse config check', 'gatehouse config check --file production.env'],
      run: async (context) => (await import('./config-report.js')).check(context),
    }),
    command({
      name: 'print',
      description: 'print the value of every variable and where it comes from, without secrets',
      options: [FILE],
      examples: ['gatehouse config print', 'gatehouse config print --json'],
      run: async (context) => (await import('./config-report.js')).print(context),
    }),
  ],
};
