import type { SavedPushToken } from '../../client/api/api-client-answers.js';
import { command, type CliContext, type CommandGroup } from '../command.js';
import { SERVER } from '../options.js';
import { formatTime } from '../output.js';

const TOKEN = ['<token>', 'push token of a device'] as const;

/** Lists, adds and removes the account's push tokens. */
export const tokens: CommandGroup = {
  name: 'tokens',
  description: "list, add or remove the account's push tokens",
  commands: [
    command({
      name: 'list',
      description: 'list them, newest first',
      options: [SERVER],
      async run(context) {
        const saved = await (await connect(context)).pushTokens();
        const text =
          saved.length === 0
            ? 'No push tokens. Add one: gatehouse tokens add TOKEN'
            : saved.map(describe).join('\n');
        context.output.result({ tokens: saved }, text);
      },
    }),
    command({
      name: 'add',
      description: 'save a token',
      args: [TOKEN],
      options: [
        ['--client-server-url <url>', 'address at which the app reaches this server'],
        ['--name <text>', 'name of the device, for you'],
        SERVER,
      ],
      examples: ['gatehouse tokens add my-push-token'],
      async run(context) {
        const [token = ''] = context.args;
        const client = await connect(context);
        const { clientServerUrl, name } = context.options;
        await client.savePushToken(token, clientServerUrl, name === undefined ? {} : { name });
        context.output.result({ token, saved: true }, `Saved ${token}.`);
      },
    }),
    command({
      name: 'remove',
      description: 'remove a token, known or not',
      args: [TOKEN],
      options: [SERVER],
      examples: ['gatehouse tokens remove my-push-token'],
      async run(context) {
        const [token = ''] = context.args;
        await (await connect(context)).removePushToken(token);
        context.output.result({ token, removed: true }, `Removed ${token}.`);
      },
    }),
  ],
};

async function connect(context: CliContext<{ readonly server?: string }>) {
  const { requireToken } = await import('./current-session.js');
  return (await requireToken(context)).client;
}

function describe({ token, name, clientServerUrl, updatedAt }: SavedPushToken): string {
  const parts = [formatTime(updatedAt), name, token, clientServerUrl];
  return parts.filter((part) => part !== null).join('  ');
}
