import { command, type CommandGroup, type OptionsOf, type OptionSpec } from '../command.js';
import { DENY_PRIVATE, repeated, SERVER, SETTINGS_FILE, wholeNumber } from '../options.js';

const MAX_SECONDS = 24 * 60 * 60;

const EXIT_HELP = `
The answer counts if it is signed with the key of the account, for exactly this request.

Exit codes:
  0   allowed, or answered
  10  denied
  11  no answer in time
  12  cannot be answered from elsewhere: no key, too long, paused, or no
      device is notified and no page is open
  1 to 4 as of other commands; 130 and 143 after Ctrl-C and SIGTERM, which
  withdraw the request
`;

const ASK_OPTIONS = [
  ['--session <id>', 'the session of the agent (default: a new one)'],
  ['--title <text>', "the session's title (default: the working directory)"],
  [
    '--timeout <seconds>',
    'wait for so long (default: 600)',
    { parse: wholeNumber(1, MAX_SECONDS) },
  ],
  ['--no-mask', 'show passwords, tokens and keys in notifications as they are'],
  DENY_PRIVATE,
  SETTINGS_FILE,
  SERVER,
] as const satisfies readonly OptionSpec[];

const PERMISSION_OPTIONS = [
  ['--tool <name>', 'the tool that is to run', { isRequired: true }],
  ['--input-file <file>', 'its input, as JSON; - is standard input'],
  ['--command <text>', 'its input, where it is a command'],
  ...ASK_OPTIONS,
] as const satisfies readonly OptionSpec[];

const QUESTION_OPTIONS = [
  ['--question <text>', 'the question', { isRequired: true }],
  ['--option <label=description>', 'an answer to choose; may be repeated', { parse: repeated }],
  ['--multiple', 'several answers may be chosen'],
  ['--custom-answer', 'a free-text answer may be given'],
  ...ASK_OPTIONS,
] as const satisfies readonly OptionSpec[];

export type AskCommandOptions = OptionsOf<typeof ASK_OPTIONS>;
export type PermissionOptions = OptionsOf<typeof PERMISSION_OPTIONS>;
export type QuestionOptions = OptionsOf<typeof QUESTION_OPTIONS>;

const load = () => import('./ask.js');

export const ask: CommandGroup = {
  name: 'ask',
  description: 'ask the person on their other devices, and wait for the answer',
  help: EXIT_HELP,
  commands: [
    command({
      name: 'permission',
      description: 'ask for permission; prints allow or deny',
      options: PERMISSION_OPTIONS,
      help: EXIT_HELP,
      examples: [
        "gatehouse ask permission --tool Bash --command 'npm test' --session s1 --title 'Fix the build'",
        'gatehouse ask permission --tool Bash --input-file - < input.json',
      ],
      run: async (context) => (await load()).askPermission(context),
    }),
    command({
      name: 'question',
      description: 'ask a question; prints each chosen option on a line',
      options: QUESTION_OPTIONS,
      help: EXIT_HELP,
      examples: [
        "gatehouse ask question --question 'Which one?' --option 'A=the first' --option B",
      ],
      run: async (context) => (await load()).askQuestion(context),
    }),
  ],
};
