import { command, type CommandGroup, type OptionsOf, type OptionSpec } from '../command.js';
import { DENY_PRIVATE, SERVER, SETTINGS_FILE } from '../options.js';

const HOOK_OPTIONS = [
  [
    '--when <when>',
    'ask if the terminal has been idle for a minute, or always (default: idle)',
    { choices: ['idle', 'always'] },
  ],
  ['--no-mask', 'show passwords, tokens and keys in notifications as they are'],
  DENY_PRIVATE,
  SETTINGS_FILE,
  SERVER,
] as const satisfies readonly OptionSpec[];

export type HookOptions = OptionsOf<typeof HOOK_OPTIONS>;

export const hook: CommandGroup = {
  name: 'hook',
  description: "answer and notify for a coding agent, from its hook's JSON",
  help: `
To set it up, see docs/agent-hooks.md. For a permission or a question it asks on your other devices,
and prints the decision as the agent documents it. Without an answer it prints nothing, and the
agent's own prompt remains. It always exits with 0. \`gatehouse hook claude-code\` is short for
\`gatehouse hook run claude-code\`.
`,
  commands: [
    command({
      name: 'run',
      description: 'read an event of an agent; runs without a subcommand, too',
      isDefault: true,
      args: [
        ['<agent>', 'claude-code, codex, opencode, copilot or gemini'],
        ['[event]', 'the JSON (default: standard input)'],
      ],
      options: HOOK_OPTIONS,
      examples: ['gatehouse hook run claude-code < hook.json'],
      run: async (context) => (await import('./hook.js')).hook(context),
    }),
    command({
      name: 'stats',
      description: 'count how often requests repeated byte for byte, on this computer',
      examples: ['gatehouse hook stats', 'gatehouse hook stats --json'],
      run: async (context) => (await import('./stats.js')).stats(context),
    }),
  ],
};
