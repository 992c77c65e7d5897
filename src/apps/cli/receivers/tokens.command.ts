import { DEV_PUSH_VARIABLE } from '../../../packages/client/notifications/notification-display.js';
import { savesPushTokensOfBuild } from '../../../packages/notify/environment.js';
import { refusedError } from '../cli-error.js';
import { command, type CommandGroup } from '../command.js';
import { DENY_PRIVATE, FIELDS, SERVER, SETTINGS_FILE } from '../options.js';
import { formatMinute, type Listing } from '../output.js';
import type { Receiver } from './receivers.js';

const LISTING: Listing<Receiver> = {
  fields: ['id', 'token', 'name', 'showsText', 'clientServerUrl', 'createdAt', 'updatedAt'],
  columns: [
    ['UPDATED', ({ updatedAt }) => formatMinute(updatedAt)],
    ['NAME', ({ name }) => name],
    ['TOKEN', ({ token }) => token],
    ['CLIENT SERVER URL', ({ clientServerUrl }) => clientServerUrl],
    ['TEXT', ({ showsText }) => (showsText === null ? null : TEXT[showsText ? 'yes' : 'no'])],
  ],
  empty: 'No push tokens. Add one: gatehouse tokens add TOKEN',
};
const TEXT = { yes: 'yes', no: 'not confirmed' };
const TOKEN = ['<token>', 'push token of a device'] as const;

export const tokens: CommandGroup = {
  name: 'tokens',
  description: "list, add, confirm, remove or test the account's push tokens",
  commands: [
    command({
      name: 'list',
      description: 'list them, newest first; runs without a subcommand, too',
      isDefault: true,
      options: [FIELDS, SERVER],
      examples: ['gatehouse tokens list', 'gatehouse tokens list --fields token'],
      async run(context) {
        const { listReceivers } = await import('./receivers.js');
        await context.output.list(LISTING, await listReceivers(context));
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
        requireRegistration();
        const { clientServerUrl, name } = context.options;
        const device = name === undefined ? {} : { name };
        const { addReceiver } = await import('./receivers.js');
        const more = await addReceiver(
          context,
          ({ client }) => client.savePushToken(token, clientServerUrl, device),
          token,
        );
        context.output.result({ token, saved: true }, `Saved ${token}.${more}`);
      },
    }),
    command({
      name: 'confirm',
      description: 'let devices show the text of notifications',
      args: [['[id...]', 'ids of push tokens, or the tokens; without any it asks for each']],
      options: [SERVER],
      help: `
Any session of the account can save a push token. Once a token is confirmed, devices that are not get
notifications without title, text or preview. Confirming needs the key of the account.
`,
      examples: ['gatehouse tokens confirm', 'gatehouse tokens confirm my-push-token'],
      run: async (context) => (await import('./receivers.js')).confirm(context),
    }),
    command({
      name: 'remove',
      description: 'remove a token; one that is not saved is no error',
      args: [TOKEN],
      options: [SERVER],
      examples: ['gatehouse tokens remove my-push-token'],
      async run(context) {
        const [token = ''] = context.args;
        const { removeReceiver } = await import('./receivers.js');
        const isSaved = await removeReceiver(context, token);
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
function requireRegistration(): void {
  if (!savesPushTokensOfBuild()) {
    throw refusedError(
      'This is a development build, which saves no push tokens.',
      'development-build',
      `Allow it: export ${DEV_PUSH_VARIABLE}=1`,
    );
  }
}
