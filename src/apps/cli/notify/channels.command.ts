import { command, type CommandGroup, type OptionsOf, type OptionSpec } from '../command.js';
import { DENY_PRIVATE, FIELDS, SERVER, SETTINGS_FILE } from '../options.js';

const ID = ['<id>', 'its id'] as const;
const SECRET_OPTIONS = [
  ['--new-secret', 'create a signing secret, and print it once'],
  ['--secret-file <file>', 'sign with the secret in this file'],
  [
    '--secret <text>',
    'sign with this secret (others may see it in the process list)',
    { conflicts: ['secretFile', 'newSecret'] },
  ],
] as const satisfies readonly OptionSpec[];
const ADD_OPTIONS = [
  ...SECRET_OPTIONS,
  ['--preset <name>', 'generic, slack, discord or ntfy (default generic)'],
  ['--topics <list>', 'only these: ready,permissionRequest,userActionRequest'],
  ['--message-text', 'include message text in ready events'],
  ['--no-previews', 'include nothing of what a request is about'],
  ['--id <id>', 'its id (default: a new one)'],
  SETTINGS_FILE,
  SERVER,
] as const satisfies readonly OptionSpec[];
const SET_OPTIONS = [
  ['--url <url>', 'send deliveries to this address'],
  ...SECRET_OPTIONS,
  ['--topics <list>', 'only these: ready,permissionRequest,userActionRequest'],
  ['--message-text', 'include message text in ready events'],
  ['--no-message-text', 'include none'],
  ['--previews', 'include what a request is about'],
  ['--no-previews', 'include nothing of it'],
  SETTINGS_FILE,
  SERVER,
] as const satisfies readonly OptionSpec[];

const TEST_OPTIONS = [
  ['--topic <name>', 'send an example of this event, exactly as the channel receives it'],
  SETTINGS_FILE,
  SERVER,
  DENY_PRIVATE,
] as const satisfies readonly OptionSpec[];

export type TestOptions = OptionsOf<typeof TEST_OPTIONS>;
export type AddOptions = OptionsOf<typeof ADD_OPTIONS>;
export type SetOptions = OptionsOf<typeof SET_OPTIONS>;

const load = () => import('./channels.js');

export const channels: CommandGroup = {
  name: 'channels',
  description: "list, add and change the account's webhooks",
  commands: [
    command({
      name: 'add',
      description: 'add a webhook; all topics are on',
      args: [['<url>', 'address that deliveries are sent to']],
      options: ADD_OPTIONS,
      examples: [
        'gatehouse channels add https://hooks.example.org/gatehouse --new-secret',
        'gatehouse channels add https://ntfy.sh/my-topic --preset ntfy',
      ],
      run: async (context) => (await load()).add(context),
    }),
    command({
      name: 'list',
      description: 'list them, without secrets; runs without a subcommand, too',
      isDefault: true,
      options: [FIELDS, SETTINGS_FILE, SERVER],
      examples: ['gatehouse channels list', 'gatehouse channels list --fields id,url'],
      run: async (context) => (await load()).list(context),
    }),
    command({
      name: 'set',
      description: 'change its address, topics, previews or secret, and keep the rest',
      args: [ID],
      options: SET_OPTIONS,
      help: '\nThe secret before a new one signs deliveries too, for a day.\n',
      examples: [
        'gatehouse channels set ch_1 --topics ready,permissionRequest',
        'gatehouse channels set ch_1 --new-secret',
      ],
      run: async (context) => (await load()).set(context),
    }),
    command({
      name: 'enable',
      description: 'send to it again',
      args: [ID],
      options: [SETTINGS_FILE, SERVER],
      examples: ['gatehouse channels enable ch_1'],
      run: async (context) => (await load()).enable(context, true),
    }),
    command({
      name: 'disable',
      description: 'send nothing to it, but keep it',
      args: [ID],
      options: [SETTINGS_FILE, SERVER],
      examples: ['gatehouse channels disable ch_1'],
      run: async (context) => (await load()).enable(context, false),
    }),
    command({
      name: 'test',
      description: 'send a test to it, enabled or not, and print what was sent',
      args: [ID],
      options: TEST_OPTIONS,
      examples: [
        'gatehouse channels test ch_1',
        'gatehouse channels test ch_1 --topic permissionRequest',
      ],
      run: async (context) => (await import('./channel-test.js')).test(context),
    }),
    command({
      name: 'remove',
      description: 'delete it',
      args: [ID],
      options: [SETTINGS_FILE, SERVER],
      examples: ['gatehouse channels remove ch_1'],
      run: async (context) => (await load()).remove(context),
    }),
  ],
};
