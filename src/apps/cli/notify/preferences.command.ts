import { command, type CommandGroup } from '../command.js';
import { SERVER, SETTINGS_FILE, YES } from '../options.js';

export const preferences: CommandGroup = {
  name: 'preferences',
  description: "show or change the account's notification preferences",
  commands: [
    command({
      name: 'get',
      description: 'show all preferences, with defaults where nothing is saved, or one of them',
      args: [['[name]', 'name of a preference']],
      options: [SETTINGS_FILE, SERVER],
      examples: ['gatehouse preferences get'],
      run: async (context) => (await import('./preferences.js')).get(context),
    }),
    command({
      name: 'set',
      description: 'change one or more preferences',
      args: [['<name=value...>', 'on or off; foregroundBehavior: full, silent or off']],
      options: [SETTINGS_FILE, SERVER],
      examples: ['gatehouse preferences set requestPreviews=off ready=on'],
      run: async (context) => (await import('./preferences.js')).set(context),
    }),
    command({
      name: 'accept',
      description: 'accept settings that are older than those that this computer has seen',
      options: [YES, SERVER],
      help: `
An older app or a restored backup can bring older settings back, and so can a server that wants to
deceive. Until you accept them, this computer sends no notification. It shows the webhooks of the
settings, and asks.
`,
      examples: ['gatehouse preferences accept'],
      run: async (context) => (await import('./preferences.js')).accept(context),
    }),
  ],
};
