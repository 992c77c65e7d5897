import { command, type CommandGroup } from '../command.js';
import { WITH_DATABASE } from '../options.js';

/** Explains the policy for accounts, and predicts the effect of changed variables. */
export const policy: CommandGroup = {
  name: 'policy',
  description: 'explain which accounts keep access, and plan changes of the rules',
  help: WITH_DATABASE,
  commands: [
    command({
      name: 'explain',
      description: 'print the rules for one account, with the facts and times they use',
      args: [['<account>', 'id of the account']],
      run: async (context) => (await import('./policy-report.js')).explain(context),
    }),
    command({
      name: 'plan',
      description: 'count the accounts that would lose access under changed variables',
      options: [
        // Not --env-file: Node 20 takes that for itself, also behind the script's name.
        ['--file <file>', 'the changed variables', { isRequired: true }],
      ],
      run: async (context) => (await import('./policy-report.js')).plan(context),
    }),
  ],
};
