import { command, type CommandGroup } from '../command.js';
import { SERVER } from '../options.js';

const load = () => import('./answering.js');

export const requests: CommandGroup = {
  name: 'requests',
  description: 'see and answer what programs of this account ask, from a computer with its key',
  commands: [
    command({
      name: 'list',
      description:
        'list what waits for an answer, the newest first; runs without a subcommand, too',
      isDefault: true,
      options: [SERVER],
      examples: ['gatehouse requests list', 'gatehouse requests --json'],
      run: async (context) => (await load()).list(context),
    }),
    command({
      name: 'show',
      description: 'show a request in full, and mark characters that hide something',
      args: [['<id>', 'its id, or the beginning of it']],
      options: [SERVER],
      examples: ['gatehouse requests show q3Jc'],
      run: async (context) => (await load()).show(context),
    }),
    command({
      name: 'answer',
      description: 'allow or deny it, or choose options by number or label',
      args: [
        ['<id>', 'its id, or the beginning of it'],
        ['<answer...>', 'allow, deny, or an option; for several questions one after the other'],
      ],
      options: [['--text <text>', 'your own words, where the question takes them'], SERVER],
      examples: ['gatehouse requests answer q3Jc allow', 'gatehouse requests answer q3Jc 2'],
      run: async (context) => (await load()).answer(context),
    }),
    command({
      name: 'resume',
      description:
        'let paused sessions of this computer ask again: three denials in a row pause one',
      examples: ['gatehouse requests resume'],
      run: async (context) => (await load()).resume(context),
    }),
  ],
};
