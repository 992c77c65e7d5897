import type { SavedPushToken } from '../../../packages/client/api/api-client-answers.js';
import { refusedError } from '../cli-error.js';
import { command, type CliContext, type CommandGroup } from '../command.js';
import { DENY_PRIVATE, FIELDS, SERVER, SETTINGS_FILE } from '../options.js';
import { formatTime, type Listing } from '../output.js';

const LISTING: Listing<SavedPushToken> = {
  fields: ['id', 'token', 'name', 'clientServerUrl', 'createdAt', 'updatedAt'],
  columns: [
    ['UPDATED', ({ updatedAt }) => formatTime(updatedAt)],
    ['NAME', ({ name }) => name],
    ['TOKEN', ({ token }) => token],
    ['CLIENT SERVER URL', ({ clientServerUrl }) => clientServerUrl],
  ],
  empty: 'No push tokens. Add one: gatehouse tokens add TOKEN',
};
const TOKEN = ['<token>', 'push token of a device'] as const;

export const tokens: CommandGroup = {
  name: 'tokens',
  description: "list, add, remove or test the account's push tokens",
  commands: [
    command({
      name: 'list',
      description: 'list them, newest first',
      options: [FIELDS, SERVER],
      examples: ['gatehouse tokens list', 'gatehouse tokens list --fields token'],
      async run(context) {
        await context.output.list(LISTING, await (await connect(context)).pushTokens());
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
        await requireRegistration();
        const client = await connect(context);
        const { clientServerUrl, name } = context.options;
        await client.savePushToken(token, clientServerUrl, name === undefined ? {} : { name });
        context.output.result({ token, saved: true }, `Saved ${token}.`);
      },
    }),
    command({
      name: 'remove',
      description: 'remove a token; one that is not saved is no error',
      args: [TOKEN],
      options: [SERVER],
      examples: ['gatehouse tokens remove my-push-token'],
      async run(context) {
        const [token = ''] = context.args;
        const client = await connect(context);
        const isSaved = (await client.pushTokens()).some((saved) => saved.token === token);
        await client.removePushToken(token);
        const text = isSaved ? `Removed ${token}.` : `${token} was not saved.`;
        context.output.result({ token, removed: isSaved }, text);
      },
    }),
    command({
      name: 'test',
      description: 'send a test to one of them, from this computer',
      args: [['<id>', 'id of the push token, or the token']],
      options: [SETTINGS_FILE, SERVER, DENY_PRIVATE],
      examples: ['gatehouse tokens test 3f1c2a44-8f0e-4c53-9d1e-0a6b6f3f2b11'],
      run: async (context) => (await import('../notify/test-delivery.js')).testToken(context),
    }),
  ],
};

/** A development build saves no push token unless its variable allows that. */
async function requireRegistration(): Promise<void> {
  const { savesPushTokensOfBuild } = await import('../../../packages/notify/environment.js');
  if (!savesPushTokensOfBuild()) {
    const { DEV_PUSH_VARIABLE } =
      await import('../../../packages/client/notifications/notification-display.js');
    throw refusedError(
      'This is a development build, which saves no push tokens.',
      'development-build',
      `Allow it: export ${DEV_PUSH_VARIABLE}=1`,
    );
  }
}

async function connect(context: CliContext<{ readonly server?: string }>) {
  const { requireToken } = await import('./current-session.js');
  return (await requireToken(context)).client;
}
