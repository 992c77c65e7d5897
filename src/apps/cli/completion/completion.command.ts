import type { Command } from 'commander';
import { command, type CommandSpec } from '../command.js';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

export function completionOf(program: Command): CommandSpec {
  return command({
    name: 'completion',
    description: 'print the script that completes commands and options in your shell',
    args: [['<shell>', 'the shell', SHELLS]],
    help: `
To use it, from your shell's start file or once:
  bash  source <(gatehouse completion bash)
  zsh   gatehouse completion zsh > a directory of $fpath, as _gatehouse
  fish  gatehouse completion fish > ~/.config/fish/completions/gatehouse.fish
`,
    examples: ['source <(gatehouse completion bash)'],
    async run({ args, output }) {
      const shell = SHELLS.find((one) => one === args[0]) ?? 'bash';
      const { completionScript } = await import('./completion-script.js');
      const script = completionScript(program, shell);
      output.result({ shell, script }, script.trimEnd());
    },
  });
}
