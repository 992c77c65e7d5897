import { command, type CommandGroup } from '../command.js';
import { FIELDS, wholeNumber } from '../options.js';

const ID = ['<id>', 'of the delivery: its webhook-id, or how that begins'] as const;
const load = () => import('./deliveries.js');

export const deliveries: CommandGroup = {
  name: 'deliveries',
  description: 'see what became of notifications, and send one again',
  help: `
Kept in $XDG_STATE_HOME/gatehouse/spool (default ~/.local/state/gatehouse/spool),
readable by you alone: what waits, and for a week the last 3000 that ended.
`,
  commands: [
    command({
      name: 'list',
      description: 'list them, newest first; runs without a subcommand, too',
      isDefault: true,
      options: [
        ['--state <state>', 'only these', { choices: ['waiting', 'sent', 'failed', 'dropped'] }],
        ['--limit <count>', 'at most this many (default 50)', { parse: wholeNumber(1, 10_000) }],
        FIELDS,
      ],
      examples: [
        'gatehouse deliveries list --state failed',
        'gatehouse deliveries list --json --fields id,why',
      ],
      run: async (context) => (await load()).list(context),
    }),
    command({
      name: 'show',
      description: 'print everything that is stored of one, without secrets',
      args: [ID],
      examples: ['gatehouse deliveries show msg_Zq3k9TbW'],
      run: async (context) => (await load()).show(context),
    }),
    command({
      name: 'redeliver',
      description: 'send one again with the same id; it is retried for up to 15 minutes',
      args: [ID],
      examples: ['gatehouse deliveries redeliver msg_Zq3k9TbW'],
      run: async (context) => (await load()).redeliver(context),
    }),
  ],
};
