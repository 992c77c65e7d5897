import { Option, type Command } from 'commander';
import { addDeliveryCommands } from './notification-spool-commands.js';
import type { LoadCommand } from './context.js';
import { addWebhookCommands } from './webhook-commands.js';
import { examples } from './examples.js';
import { repeated } from './option-values.js';

type Run = (load: LoadCommand) => (this: Command) => Promise<void>;

const SERVER = [
  '--server <url>',
  'server to use (default: $GATEHOUSE_SERVER, else the last login)',
] as const;
const SETTINGS = [
  '--settings-file <file>',
  "read the notification settings there, and not in the account's",
] as const;
const SECRET_HELP = 'sign with this secret (others may see it in the process list)';
const DENY_PRIVATE = ['--deny-private', 'refuse webhooks on private addresses'] as const;

export const NOTIFY_EXIT = `
Exit codes:
  0  all were reached, or do not want to be
  1  some target failed; what can be tried again waits in the spool
  2  the command or the event was wrong
  3  not logged in
  4  the server cannot be reached, so nobody knows whom to tell
  78 files of this computer cannot be used, so nothing was sent
`;

const EVENT_FILE = `
An event in JSON, for --event-file (- is standard input; several: one a line):
  {"id": "e1", "topic": "permission_request",
   "session": {"sessionId": "s1", "title": "Fix the build"},
   "request": {"requestId": "r1", "toolName": "Bash",
               "details": {"command": "npm test", "explanation": "run the tests"}}}
The same id is told once, however often it is sent. Flags count more than the file.
`;

/** The sender: events, what waits, preferences, channels, and the receiving end of a webhook. */
export function addNotificationCommands(program: Command, run: Run): void {
  addNotifyCommands(program, run);
  addDeliveryCommands(program, run);
  addChannelCommands(program, run);
  addPreferenceCommands(program, run);
  addWebhookCommands(program, run);
}

function addNotifyCommands(program: Command, run: Run): void {
  const notify = program
    .command('notify')
    .description("tell the account's devices and webhooks what a session is waiting for")
    .addHelpText('after', `${EVENT_FILE}${NOTIFY_EXIT}`);
  const load = () => import('./commands/notify.command.js');
  eventCommand(notify, 'ready', 'a turn is finished')
    .option('--message <text>', 'its last message, for whoever wants message text')
    .addHelpText('after', examples("gatehouse notify ready --session s1 --title 'Fix the build'"))
    .action(run(async () => (await load()).ready));
  requestOptions(eventCommand(notify, 'permission-request', 'something needs approval'))
    .addHelpText(
      'after',
      examples(
        "gatehouse notify permission-request --session s1 --request r1 --tool Bash --command 'npm test'",
        'gatehouse notify permission-request --event-file - < event.json',
      ),
    )
    .action(run(async () => (await load()).permissionRequest));
  requestOptions(eventCommand(notify, 'user-action-request', 'a question needs an answer'))
    .addHelpText(
      'after',
      examples(
        "gatehouse notify user-action-request --session s1 --request r2 --question 'Which one?' --option 'A=the first' --option B",
      ),
    )
    .action(run(async () => (await load()).userActionRequest));
  eventCommand(notify, 'send', 'events of a file, each with its own topic')
    .addHelpText('after', examples('gatehouse notify send --event-file events.ndjson'))
    .action(run(async () => (await load()).send));
  addUpkeepCommands(notify, run);
}

function addUpkeepCommands(notify: Command, run: Run): void {
  const flush = () => import('./commands/notify-flush.command.js');
  notify
    .command('flush')
    .description('try what waits and is due, of all accounts')
    .option('--wait', 'go on until nothing waits any more')
    .option(...DENY_PRIVATE)
    .addHelpText('after', examples('gatehouse notify flush', 'gatehouse notify flush --wait'))
    .action(run(async () => (await flush()).flush));
  notify
    .command('receipts')
    .description('ask what became of the pushes sent at least 15 minutes ago')
    .addHelpText('after', examples('gatehouse notify receipts --json'))
    .action(run(async () => (await flush()).receipts));
  notify
    .command('doctor')
    .description('send a test along every way, and say which hop fails')
    .option('--wait', 'wait for the receipts of the push service, up to 16 minutes')
    .option(...DENY_PRIVATE)
    .option(...SETTINGS)
    .option(...SERVER)
    .addHelpText('after', examples('gatehouse notify doctor'))
    .action(run(async () => (await import('./commands/notify-doctor.command.js')).doctor));
}

function eventCommand(notify: Command, name: string, description: string): Command {
  return notify
    .command(name)
    .description(description)
    .option('--session <id>', 'the session it is about')
    .option('--title <text>', "the session's title")
    .option('--id <id>', 'of the event: the same id is told once (default: a new one)')
    .option('--metadata <name=value>', 'sent to webhooks as it is; may be repeated', repeated)
    .option('--event-file <file>', 'read it as JSON; - is standard input')
    .option('--wait', 'wait until every target was reached or given up')
    .option('--no-background', 'leave no process behind that retries what failed')
    .option(...DENY_PRIVATE)
    .option(...SETTINGS)
    .option(...SERVER)
    .addHelpText('after', NOTIFY_EXIT);
}

function requestOptions(command: Command): Command {
  return command
    .option('--request <id>', 'the request it is about')
    .option('--tool <name>', 'what wants to run')
    .option('--command <text>', 'the command it wants to run')
    .option('--file-path <path>', 'the file it wants to use')
    .option('--explanation <text>', 'why')
    .option('--plan-text <text>', 'a plan to approve')
    .option('--url <url>', 'the address it wants to open')
    .option('--search <text>', 'what it wants to search for')
    .option('--question <text>', 'the question')
    .option('--option <label=description>', 'an answer to choose; may be repeated', repeated)
    .option('--multiple', 'several answers may be chosen')
    .option('--custom-answer', 'an answer in own words may be given');
}

function addChannelCommands(program: Command, run: Run): void {
  const channels = program
    .command('channels')
    .description("list, add and change the account's webhooks");
  const load = () => import('./commands/channels.command.js');
  channels
    .command('add')
    .description('add a webhook; all topics are on')
    .argument('<url>', 'where deliveries are sent to')
    .option('--new-secret', 'make a signing secret, and print it once')
    .option('--secret-file <file>', 'sign with the secret in this file')
    .addOption(new Option('--secret <text>', SECRET_HELP).conflicts(['secretFile', 'newSecret']))
    .option('--preset <name>', 'generic, slack, discord or ntfy (default generic)')
    .option('--topics <list>', 'only these: ready,permissionRequest,userActionRequest')
    .option('--message-text', 'message text in ready events')
    .option('--no-previews', 'nothing of what a request is about')
    .option('--id <id>', 'its id (default: a new one)')
    .option(...SETTINGS)
    .option(...SERVER)
    .addHelpText(
      'after',
      examples(
        'gatehouse channels add https://hooks.example.org/gatehouse --new-secret',
        'gatehouse channels add https://ntfy.sh/my-topic --preset ntfy',
      ),
    )
    .action(run(async () => (await load()).add));
  addChannelChanges(channels, run);
}

function addChannelChanges(channels: Command, run: Run): void {
  const load = () => import('./commands/channels.command.js');
  const show = channels.command('list').description('list them, without secrets');
  show.option(...SETTINGS).option(...SERVER);
  show.action(run(async () => (await load()).list));
  const acts = [
    ['enable', 'send to it again'],
    ['disable', 'send nothing to it, but keep it'],
    ['test', 'send a test to it, enabled or not'],
    ['remove', 'delete it'],
  ] as const;
  for (const [name, description] of acts) {
    const command = channels.command(name).description(description).argument('<id>', 'its id');
    command.option(...SETTINGS).option(...SERVER);
    if (name === 'test') {
      command.option(...DENY_PRIVATE);
    }
    command.addHelpText('after', examples(`gatehouse channels ${name} ch_1`));
    command.action(run(async () => (await load())[name]));
  }
}

function addPreferenceCommands(program: Command, run: Run): void {
  const preferences = program
    .command('preferences')
    .description("show or change the account's notification preferences");
  const load = () => import('./commands/preferences.command.js');
  preferences
    .command('get')
    .description('show all, or one')
    .argument('[name]', 'of a preference')
    .option(...SETTINGS)
    .option(...SERVER)
    .addHelpText('after', examples('gatehouse preferences get'))
    .action(run(async () => (await load()).get));
  preferences
    .command('set')
    .description('change some')
    .argument('<name=value...>', 'on or off; foregroundBehavior: full, silent or off')
    .option(...SETTINGS)
    .option(...SERVER)
    .addHelpText('after', examples('gatehouse preferences set requestPreviews=off ready=on'))
    .action(run(async () => (await load()).set));
}
