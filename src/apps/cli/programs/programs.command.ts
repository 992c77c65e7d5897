import { command, type CommandGroup } from '../command.js';
import { FIELDS, repeated, SERVER } from '../options.js';

const NAME = ['<name>', 'name of the program on this computer'] as const;

/** Programs that act for the person at a backend, such as coding agents. */
export const programs: CommandGroup = {
  name: 'programs',
  description: 'list, end or add programs that act for you at a backend, such as coding agents',
  commands: [
    command({
      name: 'list',
      description: 'list them by program, newest first; runs without a subcommand, too',
      isDefault: true,
      options: [FIELDS, SERVER],
      examples: ['gatehouse programs list', 'gatehouse programs --json --fields id,client,scopes'],
      run: async (context) => (await import('./list-programs.js')).listPrograms(context),
    }),
    command({
      name: 'end',
      description: 'end the access of programs at once and everywhere',
      args: [['[id]', 'its id, or the beginning of it']],
      options: [
        ['--all', 'end all of them', { conflicts: ['program'] }],
        ['--program <id>', 'end each access of the program with this client id'],
        SERVER,
      ],
      help: `
The file of a program of this computer is removed, too.
`,
      examples: [
        'gatehouse programs end 3f1c2a44',
        'gatehouse programs end --program https://claude.ai/oauth/claude-code-client-metadata',
        'gatehouse programs end --all',
      ],
      run: async (context) => (await import('./list-programs.js')).endPrograms(context),
    }),
    command({
      name: 'add',
      description: 'let a program of this computer act for you at one backend',
      args: [NAME],
      options: [
        ['--resource <id>', 'the backend, by its id', { isRequired: true }],
        [
          '--scope <id>',
          'what it may do; repeat it for several (default: the initial scopes of the backend)',
          { parse: repeated },
        ],
        ['--expires <time>', 'for example 12h or 30d (default: as long as the backend allows)'],
        SERVER,
      ],
      help: `
Needs a sign-in of the last 15 minutes. The access is kept in
$XDG_CONFIG_HOME/gatehouse/programs/NAME.json (default ~/.config), readable by
you alone. To give it to another user or computer, move the file there: with two
copies, the server ends the access. It also ends with your own access, after 30
days without use, and with: gatehouse programs end
`,
      examples: ['gatehouse programs add backup --resource notes --scope notes:read --expires 30d'],
      run: async (context) => (await import('./program-tokens.js')).addProgram(context),
    }),
    command({
      name: 'token',
      description: 'print an access token of a program of this computer; needs no sign-in',
      args: [NAME],
      help: `
Asks the server for a new token each time, also where several run at once. Exits
with 3 once the access has ended.
`,
      examples: [
        'gatehouse programs token backup',
        'export NOTES_TOKEN="$(gatehouse programs token backup)"',
      ],
      run: async (context) => (await import('./program-tokens.js')).printToken(context),
    }),
  ],
};
