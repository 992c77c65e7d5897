import { command } from '../command.js';
import { SERVER, YES } from '../options.js';

export const encryption = command({
  name: 'encryption',
  description: 'show or change how the content of the account is stored',
  args: [['[mode]', 'the mode to change to, with everything that is stored', ['e2ee', 'plain']]],
  options: [YES, SERVER],
  help: `
A change to "plain" asks first. The other computers and browsers with the key of the account ask
too, before they follow: "gatehouse encryption plain" there confirms it.
`,
  examples: ['gatehouse encryption', 'gatehouse encryption plain', 'gatehouse encryption e2ee'],
  run: async (context) => (await import('./encryption-mode.js')).encryptionMode(context),
});
