import { Option, type Command } from 'commander';
import type { LoadCommand } from './context.js';
import { repeated, wholeNumber } from './option-values.js';
import { examples } from './examples.js';

type Run = (load: LoadCommand) => (this: Command) => Promise<void>;

const SECRET_HELP = 'the same (others may see it in the process list)';
const SECONDS = wholeNumber(0, 31_536_000);

/** For whoever receives deliveries. */
export function addWebhookCommands(program: Command, run: Run): void {
  const webhook = program.command('webhook').description('the receiving end of a webhook');
  const load = () => import('./commands/webhook.command.js');
  webhook
    .command('listen')
    .description('receive deliveries on this computer, and print whether each verifies')
    .option('--port <port>', 'of 127.0.0.1 (default: a free one)', wholeNumber(0, 65_535))
    .option('--secret-file <file>', 'the signing secret (or $GATEHOUSE_WEBHOOK_SECRET)')
    .addOption(new Option('--secret <text>', SECRET_HELP).conflicts('secretFile'))
    .option('--status <code>', 'answer with this (default 204)', wholeNumber(200, 599))
    .addHelpText('after', examples('gatehouse webhook listen --port 8787 --secret-file secret.txt'))
    .action(run(async () => (await load()).listen));
  webhook
    .command('verify')
    .description('say whether a stored delivery is genuine')
    .option('--file <file>', 'the body, byte for byte (default: standard input)')
    .option('--signature <value>', 'of the header x-service-signature-256')
    .option('--header <name:value>', 'any header; may be repeated', repeated)
    .option('--tolerance-seconds <n>', 'how old it may be; needs webhook-* headers', SECONDS)
    .option('--secret-file <file>', 'the signing secret (or $GATEHOUSE_WEBHOOK_SECRET)')
    .addOption(new Option('--secret <text>', SECRET_HELP).conflicts('secretFile'))
    .addHelpText(
      'after',
      examples(
        'gatehouse webhook verify --secret-file secret.txt --signature sha256=… < body.json',
      ),
    )
    .action(run(async () => (await load()).verify));
}
