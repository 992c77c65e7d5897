import { Option, type Command } from 'commander';
import type { LoadCommand } from './context.js';
import { wholeNumber } from './option-values.js';

type Run = (load: LoadCommand) => (this: Command) => Promise<void>;

const STATES = ['waiting', 'sent', 'failed', 'dropped'];

/** What was sent, what waits, and what was given up. */
export function addDeliveryCommands(program: Command, run: Run): void {
  const deliveries = program
    .command('deliveries')
    .description('see what became of notifications, and send one again')
    .addHelpText(
      'after',
      `
Kept in $XDG_STATE_HOME/gatehouse/spool (default ~/.local/state/gatehouse/spool),
readable by you alone: what waits, and for a week the last 3000 that ended.
`,
    );
  const load = () => import('./commands/deliveries.command.js');
  deliveries
    .command('list')
    .description('list them: waiting, sent, failed, dropped')
    .addOption(new Option('--state <state>', 'only these').choices(STATES))
    .option('--limit <count>', 'at most so many (default 50)', wholeNumber(1, 10_000))
    .action(run(async () => (await load()).list));
  deliveries
    .command('show')
    .description('print everything that is kept of one')
    .argument('<id>', 'of the delivery: its webhook-id')
    .action(run(async () => (await load()).show));
  deliveries
    .command('redeliver')
    .description('send one again under its id')
    .argument('<id>', 'of the delivery: its webhook-id')
    .action(run(async () => (await load()).redeliver));
}
