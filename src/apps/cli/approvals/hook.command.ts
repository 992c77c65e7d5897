import { command, type OptionsOf, type OptionSpec } from '../command.js';
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

export const hook = command({
  name: 'hook',
  description: "answer and notify for a coding agent, from its hook's JSON",
  args: [
    ['<agent>', 'claude-code or codex'],
    ['[event]', 'the JSON (default: standard input)'],
  ],
  options: HOOK_OPTIONS,
  help: `
To set it up, see docs/agent-hooks.md. For a permission or a question it asks on your other devices,
and prints the decision as the agent documents it. Without an answer it prints nothing, and the
agent's own prompt remains. It waits 540 seconds for Claude Code, and 60 for Codex, which prompts
only afterwards. It always exits with 0.
`,
  examples: ['gatehouse hook claude-code < hook.json'],
  run: async (context) => (await import('./hook.js')).hook(context),
});
