import { command, type CommandGroup } from '../command.js';
import { VARIABLES_FILE } from '../options.js';

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
      options: [
        VARIABLES_FILE,
        ['--online', 'also ask the identity providers'],
        ['--allow-expired', 'exit with 0 if all errors are about what has expired'],
      ],
      examples: [
        'gatehouse config check',
        'gatehouse config check --online',
        'gatehouse config check --file production.env',
      ],
      run: async (context) => (await import('./config-report.js')).check(context),
    }),
    command({
      name: 'print',
      description: 'print the value of every variable and where it comes from, without secrets',
      options: [VARIABLES_FILE],
      examples: ['gatehouse config print', 'gatehouse config print --json'],
      run: async (context) => (await import('./config-report.js')).print(context),
    }),
  ],
};
