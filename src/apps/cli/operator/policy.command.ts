import { command, type CommandGroup } from '../command.js';
import { VARIABLES_FILE } from '../options.js';
import { ADMIN_OPTIONS, WITH_ADMINISTRATION } from './with-administration.js';

export const policy: CommandGroup = {
  name: 'policy',
  description: 'explain which accounts keep access, plan changes of the rules, and test them',
  commands: [
    command({
      name: 'explain',
      description: 'print the rules for one account, with the facts and times they use',
      args: [['<account>', 'id of the account']],
      options: ADMIN_OPTIONS,
      help: WITH_ADMINISTRATION,
      examples: ['gatehouse policy explain 7f7c0c2e-4b0b-4a5e-9f63-3a1d7c1b7a52'],
      run: async (context) => (await import('./policy-report.js')).explain(context),
    }),
    command({
      name: 'plan',
      description: 'show who would lose or get access under changed variables',
      help: WITH_ADMINISTRATION,
      options: [
        // Not --env-file: Node 20 interprets that option itself, even after the script's name.
        [
          '--file <file>',
          'the changed variables, one NAME=value a line; all others stay as they are',
          { isRequired: true },
        ],
        ...ADMIN_OPTIONS,
      ],
      examples: ['gatehouse policy plan --file changed.env'],
      run: async (context) => (await import('./policy-report.js')).plan(context),
    }),
    command({
      name: 'test',
      description: 'compare what the policy does with people to what a file expects',
      args: [['<people>', 'JSON file: an array of people, each with the expected outcome']],
      options: [VARIABLES_FILE],
      help: `
Uses neither database nor network. docs/policy-tests.md describes the file.
Exits with 0 when every outcome is as expected, with 1 when one is not, with 2
when the file is invalid, and with 78 when the configuration is.
`,
      examples: ['gatehouse policy test people.json --file production.env'],
      run: async (context) => (await import('./policy-test.js')).test(context),
    }),
  ],
};
