import { describeBuild } from './build-previews.js';
import { command, type CommandGroup, type OptionsOf, type OptionSpec } from '../command.js';
import { DENY_PRIVATE, repeated, SERVER, SETTINGS_FILE } from '../options.js';

const EVENT_FILE_HELP = `
An event in JSON, for --event-file (- is standard input; several: one a line):
  {"id": "e1", "topic": "permission_request",
   "session": {"sessionId": "s1", "title": "Fix the build"},
   "request": {"requestId": "r1", "toolName": "Bash",
               "details": {"command": "npm test", "explanation": "run tests"}}}
An id is sent once, however often it is repeated. Options override the file.
`;

const EXIT_HELP = `
Exit codes:
  0  every target was reached, or is switched off
  1  some target failed; what can be retried waits in the spool
  2  the command or the event was invalid
  3  not signed in
  4  the server is unreachable, and nothing of it is known from the last 24
     hours: the event is kept, and sent once the server answers
`;

const EVENT_OPTIONS = [
  ['--session <id>', 'the session it is about'],
  ['--title <text>', "the session's title"],
  ['--id <id>', 'id of the event: the same id is sent once (default: a new one)'],
  ['--metadata <name=value>', 'sent to webhooks; may be repeated', { parse: repeated }],
  ['--event-file <file>', 'read the event from this JSON file; - is standard input'],
  ['--no-mask', 'show passwords, tokens and keys in previews as they are'],
  ['--detach', 'return once the event is in the spool; a background process sends it'],
  ['--wait', 'wait until every target was reached or given up'],
  ['--no-background', 'start no background process that retries what failed'],
  DENY_PRIVATE,
  SETTINGS_FILE,
  SERVER,
] as const satisfies readonly OptionSpec[];

const READY_OPTIONS = [
  ...EVENT_OPTIONS,
  ['--message <text>', 'its last message, for targets with message text switched on'],
] as const satisfies readonly OptionSpec[];

const REQUEST_OPTIONS = [
  ...EVENT_OPTIONS,
  ['--request <id>', 'the request it is about'],
  ['--tool <name>', 'the tool that is to run'],
  ['--command <text>', 'the command it is to run'],
  ['--file-path <path>', 'the file it is to use'],
  ['--explanation <text>', 'why'],
  ['--plan-text <text>', 'a plan to approve'],
  ['--url <url>', 'the address it is to open'],
  ['--search <text>', 'what it is to search for'],
  ['--question <text>', 'the question'],
  ['--option <label=description>', 'an answer to choose; may be repeated', { parse: repeated }],
  ['--multiple', 'several answers may be chosen'],
  ['--custom-answer', 'a free-text answer may be given'],
] as const satisfies readonly OptionSpec[];

export type EventOptions = OptionsOf<typeof READY_OPTIONS> & OptionsOf<typeof REQUEST_OPTIONS>;

const loadEvents = () => import('./send-events.js');
const loadFlush = () => import('./flush.js');

export const notify: CommandGroup = {
  name: 'notify',
  description: "notify the account's devices and webhooks of an event in a session",
  help: `${EVENT_FILE_HELP}${EXIT_HELP}
${describeBuild()}
`,
  commands: [
    command({
      name: 'ready',
      description: 'notify that a turn is finished',
      options: READY_OPTIONS,
      help: EXIT_HELP,
      examples: ["gatehouse notify ready --session s1 --title 'Fix the build'"],
      run: async (context) => (await loadEvents()).sendEvents(context, 'ready'),
    }),
    command({
      name: 'permission-request',
      description: 'notify that a tool needs approval',
      options: REQUEST_OPTIONS,
      help: EXIT_HELP,
      examples: [
        "gatehouse notify permission-request --session s1 --request r1 --tool Bash --command 'npm test'",
        'gatehouse notify permission-request --event-file - < event.json',
      ],
      run: async (context) => (await loadEvents()).sendEvents(context, 'permission_request'),
    }),
    command({
      name: 'user-action-request',
      description: 'notify that a question needs an answer',
      options: REQUEST_OPTIONS,
      help: EXIT_HELP,
      examples: [
        "gatehouse notify user-action-request --session s1 --request r2 --question 'Which one?' --option 'A=the first' --option B",
      ],
      run: async (context) => (await loadEvents()).sendEvents(context, 'user_action_request'),
    }),
    command({
      name: 'send',
      description: 'notify of the events in a file, each with its own topic',
      options: EVENT_OPTIONS,
      help: EXIT_HELP,
      examples: ['gatehouse notify send --event-file events.ndjson'],
      run: async (context) => (await loadEvents()).sendEvents(context, null),
    }),
    command({
      name: 'resolve',
      description: 'drop or replace the notifications of a request that was answered',
      options: [
        ['--request <id>', 'the request that was answered'],
        ['--session <id>', 'only of this session'],
        ['--no-background', 'start no background process that retries what failed'],
        SETTINGS_FILE,
        SERVER,
        DENY_PRIVATE,
      ],
      help: EXIT_HELP,
      examples: ['gatehouse notify resolve --request r1'],
      run: async (context) => (await import('./resolve.js')).resolve(context),
    }),
    command({
      name: 'flush',
      description: 'send what waits and is due, for all accounts',
      options: [['--wait', 'continue until nothing waits any more'], DENY_PRIVATE],
      examples: ['gatehouse notify flush', 'gatehouse notify flush --wait'],
      run: async (context) => (await loadFlush()).flush(context),
    }),
    command({
      name: 'receipts',
      description: 'fetch the receipts of pushes sent at least 15 minutes ago',
      examples: ['gatehouse notify receipts --json'],
      run: async (context) => (await loadFlush()).receipts(context),
    }),
    command({
      name: 'doctor',
      description: 'send a test to every target, and report the hop that fails',
      options: [
        ['--wait', 'wait for the receipts of the push service, up to 16 minutes'],
        DENY_PRIVATE,
        SETTINGS_FILE,
        SERVER,
      ],
      examples: ['gatehouse notify doctor'],
      run: async (context) => (await import('./notify-doctor.js')).doctor(context),
    }),
  ],
};
